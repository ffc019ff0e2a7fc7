//! The triggers of one kind that follow a price, nearest first.
//!
//! A trigger lies at its distance from its watermark, the best price since its order was placed. Prices are keys
//! here: the price itself for triggers that fire at or above, the negated price for those at or below. So a
//! watermark is always the lowest key so far, and a trigger fires once a key reaches it from below.
//! Layout: a segment tree over the orders by placement. Later orders have watermarks that are as high or higher in
//! keys' terms, so a new extreme gives one watermark to a run of orders at the end; a node all of whose orders have
//! one watermark passes it on when it is next visited.
//! Cost: O(log orders) to add, to remove, for a new extreme, however many orders follow it, and for each order that a
//! price reaches, of which many together share their ways down.
//! Once in half as many insertions as there are orders the tree is built again.

use crate::types::{BASIS_POINTS, NIL};
use crate::work;

/// Fewest leaves of a tree.
const LEAVES_MIN: usize = 16;

/// What a tree knows about the orders below a node.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The least distance; `i64::MAX` if there is no order.
    distance: i64,
    /// The lowest watermark.
    low: i64,
    /// The highest watermark.
    high: i64,
    /// The nearest trigger and its distance.
    nearest: (i64, i64),
}

const EMPTY: Node = Node { distance: i64::MAX, low: i64::MAX, high: i64::MIN, nearest: (i64::MAX, i64::MAX) };

impl Node {
    fn is_empty(&self) -> bool {
        self.distance == i64::MAX
    }

    /// The watermark that all orders have, if there is one.
    fn common_watermark(&self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    fn joined(self, other: Self) -> Self {
        Self {
            distance: self.distance.min(other.distance),
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            nearest: self.nearest.min(other.nearest),
        }
    }
}

/// How far a trigger is from its watermark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distances {
    /// Whether a distance is basis points of the watermark, not a price.
    pub(crate) in_basis_points: bool,
    /// The tick of the symbol, to which a trigger is rounded, away from the watermark.
    pub(crate) tick: i64,
}

impl Distances {
    /// The key of the trigger at `distance` from the key `watermark`; the largest key if it does not fit.
    #[must_use]
    pub(crate) fn trigger(self, watermark: i64, distance: i64) -> i64 {
        let points = i128::from(BASIS_POINTS);
        let unit = if self.in_basis_points { i128::from(watermark.unsigned_abs()) } else { points };
        let whole = i128::from(watermark) * points + i128::from(distance) * unit;
        let steps = -(-whole).div_euclid(points * i128::from(self.tick));
        i64::try_from(steps * i128::from(self.tick)).unwrap_or(i64::MAX)
    }
}

/// An order in a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Follower {
    /// Its rank by placement.
    pub(crate) placement: u64,
    /// Its index among the waiting orders.
    pub(crate) index: u32,
    /// The distance of its trigger.
    pub(crate) distance: i64,
    /// The key of its watermark.
    pub(crate) watermark: i64,
}

/// An order that was taken out of a tree because a key has reached its trigger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    /// The key of its trigger.
    pub(crate) trigger: i64,
    distance: i64,
    /// The key of its watermark.
    pub(crate) watermark: i64,
    /// Its index among the waiting orders.
    pub(crate) index: u32,
}

/// The triggers of one symbol, price, direction and kind that follow the price.
#[derive(Clone, Debug)]
pub(crate) struct Trailing {
    distances: Distances,
    /// The root is node 1, and node n has the children 2n and 2n + 1. The second half are the leaves.
    nodes: Vec<Node>,
    /// Placement and index of the order of each leaf so far, also of those that were removed.
    leaves: Vec<(u64, u32)>,
    count: usize,
}

impl Trailing {
    pub(crate) fn new(distances: Distances) -> Self {
        Self { distances, nodes: vec![EMPTY; 2 * LEAVES_MIN], leaves: Vec::new(), count: 0 }
    }

    fn node(&self, place: usize) -> Node {
        self.nodes.get(place).copied().unwrap_or(EMPTY)
    }

    fn set(&mut self, place: usize, node: Node) {
        if let Some(slot) = self.nodes.get_mut(place) {
            *slot = node;
        }
    }

    fn first_leaf(&self) -> usize {
        self.nodes.len() / 2
    }

    fn leaf_of(&self, placement: u64) -> usize {
        self.first_leaf() + self.leaves.partition_point(|&(other, _)| other < placement)
    }

    /// Gives every order below a node one watermark.
    fn assign(&mut self, place: usize, watermark: i64) {
        work::count(1);
        let node = self.node(place);
        if !node.is_empty() {
            let trigger = self.distances.trigger(watermark, node.distance);
            self.set(
                place,
                Node { low: watermark, high: watermark, nearest: (trigger, node.distance), ..node },
            );
        }
    }

    /// Passes the common watermark of a node on to its children.
    fn pass_on(&mut self, place: usize) {
        if let Some(watermark) = self.node(place).common_watermark() {
            self.assign(2 * place, watermark);
            self.assign(2 * place + 1, watermark);
        }
    }

    fn join_children(&mut self, place: usize) {
        let joined = self.node(2 * place).joined(self.node(2 * place + 1));
        self.set(place, joined);
    }

    /// Sets a leaf, after the watermarks above it were passed on.
    fn set_leaf(&mut self, leaf: usize, node: Node) {
        let depth = self.first_leaf().trailing_zeros();
        for level in (1..=depth).rev() {
            self.pass_on(leaf >> level);
        }
        self.set(leaf, node);
        for level in 1..=depth {
            self.join_children(leaf >> level);
        }
    }

    /// Adds an order that was placed after all others.
    pub(crate) fn add(&mut self, follower: Follower) {
        if self.leaves.len() == self.first_leaf() {
            self.rebuild();
        }
        let Follower { placement, index, distance, watermark } = follower;
        let leaf = self.first_leaf() + self.leaves.len();
        self.leaves.push((placement, index));
        self.count += 1;
        let trigger = self.distances.trigger(watermark, distance);
        self.set_leaf(leaf, Node { distance, low: watermark, high: watermark, nearest: (trigger, distance) });
    }

    /// Drops the leaves of removed orders and makes room for as many more.
    fn rebuild(&mut self) {
        let first = self.first_leaf();
        for place in 1..first {
            self.pass_on(place);
        }
        let kept: Vec<((u64, u32), Node)> = self
            .leaves
            .iter()
            .zip(self.nodes.iter().skip(first))
            .filter(|(_, node)| !node.is_empty())
            .map(|(&leaf, &node)| (leaf, node))
            .collect();
        let leaves = (2 * kept.len()).next_power_of_two().max(LEAVES_MIN);
        self.leaves = kept.iter().map(|&(leaf, _)| leaf).collect();
        self.nodes.clear();
        self.nodes.resize(leaves, EMPTY);
        self.nodes.extend(kept.iter().map(|&(_, node)| node));
        self.nodes.resize(2 * leaves, EMPTY);
        for place in (1..leaves).rev() {
            self.join_children(place);
        }
    }

    /// The key of the watermark of an order.
    pub(crate) fn watermark(&self, placement: u64) -> i64 {
        let leaf = self.leaf_of(placement);
        let depth = self.first_leaf().trailing_zeros();
        (0..=depth).rev().find_map(|level| self.node(leaf >> level).common_watermark()).unwrap_or_default()
    }

    /// Removes an order and returns the key of its watermark.
    pub(crate) fn remove(&mut self, placement: u64) -> i64 {
        let watermark = self.watermark(placement);
        self.set_leaf(self.leaf_of(placement), EMPTY);
        self.count -= 1;
        if self.count == 0 {
            self.leaves.clear();
        }
        watermark
    }

    /// The nearest trigger and its distance; the largest numbers if there is none.
    pub(crate) fn nearest(&self) -> (i64, i64) {
        self.node(1).nearest
    }

    /// Takes out the orders whose triggers `key` reaches, nearest first; of equal ones the first that was placed.
    pub(crate) fn take_reached(&mut self, key: i64) -> Vec<Reached> {
        let mut reached = Vec::new();
        self.take_below(1, key, &mut reached);
        self.count -= reached.len();
        if self.count == 0 {
            self.leaves.clear();
        }
        reached.sort_by_key(|order| (order.trigger, order.distance));
        reached
    }

    fn take_below(&mut self, place: usize, key: i64, reached: &mut Vec<Reached>) {
        work::count(1);
        let node = self.node(place);
        if node.is_empty() || node.nearest.0 > key {
            return;
        }
        if let Some(leaf) = place.checked_sub(self.first_leaf()) {
            let index = self.leaves.get(leaf).map_or(NIL, |&(_, index)| index);
            let (trigger, distance) = node.nearest;
            reached.push(Reached { trigger, distance, watermark: node.low, index });
            self.set(place, EMPTY);
            return;
        }
        self.pass_on(place);
        self.take_below(2 * place, key, reached);
        self.take_below(2 * place + 1, key, reached);
        self.join_children(place);
    }

    /// The highest key of a watermark: a lower key moves triggers. The smallest number if there is none.
    pub(crate) fn high(&self) -> i64 {
        self.node(1).high
    }

    /// Lets triggers follow a key that is lower than their watermarks.
    pub(crate) fn follow(&mut self, key: i64) {
        self.follow_below(1, key);
    }

    fn follow_below(&mut self, place: usize, key: i64) {
        let node = self.node(place);
        if node.is_empty() || node.high <= key {
            return;
        }
        if node.low >= key {
            self.assign(place, key);
            return;
        }
        self.follow_below(2 * place, key);
        self.follow_below(2 * place + 1, key);
        self.join_children(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_hash::{HashSeed, Key};

    fn random(step: u32) -> u32 {
        step.hash(&HashSeed::from_words(|number| (number + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93)))
    }

    #[test]
    fn a_trigger_is_rounded_away_from_its_watermark() {
        let points = Distances { in_basis_points: true, tick: 5 };
        assert_eq!((points.trigger(100, 100), points.trigger(-100, 100)), (105, -95));
        assert_eq!((points.trigger(100, 1_000), points.trigger(-100, 1_000)), (110, -90));
        let price = Distances { in_basis_points: false, tick: 5 };
        assert_eq!((price.trigger(102, 10), price.trigger(-102, 10)), (115, -90));
    }

    #[test]
    fn it_agrees_with_a_list_through_new_extremes_removals_and_reached_triggers() {
        for in_basis_points in [false, true] {
            let distances = Distances { in_basis_points, tick: 3 };
            let mut trailing = Trailing::new(distances);
            let mut list: Vec<Follower> = Vec::new();
            let mut key = -1_000i64;
            let rank = |follower: &Follower| {
                (
                    distances.trigger(follower.watermark, follower.distance),
                    follower.distance,
                    follower.placement,
                )
            };
            let mut reached_together = 0;
            for step in 0..20_000u32 {
                let number = random(step);
                match number % 8 {
                    0..=2 => {
                        let follower = Follower {
                            placement: u64::from(step),
                            index: step + 1,
                            distance: i64::from(number >> 8) % 40 + 1,
                            watermark: key,
                        };
                        trailing.add(follower);
                        list.push(follower);
                    }
                    3..=4 if !list.is_empty() => {
                        let removed = list.remove(number as usize / 8 % list.len());
                        assert_eq!(trailing.remove(removed.placement), removed.watermark);
                    }
                    _ => {
                        key += i64::from(number >> 8) % 21 - 10;
                        key = key.clamp(-1_500, -500);
                        let (mut reached, rest): (Vec<Follower>, Vec<Follower>) =
                            list.into_iter().partition(|follower| rank(follower).0 <= key);
                        list = rest;
                        reached.sort_by_key(rank);
                        reached_together = reached_together.max(reached.len());
                        let taken = trailing.take_reached(key);
                        assert_eq!(
                            taken
                                .iter()
                                .map(|order| (order.index, order.trigger, order.watermark))
                                .collect::<Vec<_>>(),
                            reached
                                .iter()
                                .map(|order| (order.index, rank(order).0, order.watermark))
                                .collect::<Vec<_>>()
                        );
                        trailing.follow(key);
                        for follower in &mut list {
                            follower.watermark = follower.watermark.min(key);
                        }
                    }
                }
                let nearest = list.iter().map(rank).min();
                assert_eq!(
                    trailing.nearest(),
                    nearest.map_or(EMPTY.nearest, |(key, distance, _)| (key, distance))
                );
                let high = list.iter().map(|follower| follower.watermark).max();
                assert_eq!(trailing.high(), high.unwrap_or(i64::MIN));
                for follower in list.iter().take(3) {
                    assert_eq!(trailing.watermark(follower.placement), follower.watermark);
                }
            }
            assert!(reached_together > 5);
        }
    }

    #[test]
    fn a_new_extreme_costs_the_same_for_a_hundred_orders_and_for_a_hundred_thousand() {
        let steps_of = |count: u32| {
            let mut trailing = Trailing::new(Distances { in_basis_points: true, tick: 1 });
            for number in 1..=count {
                let watermark = i64::from(number) - 1_000_000;
                trailing.add(Follower { placement: number.into(), index: number, distance: 50, watermark });
            }
            work::take();
            trailing.follow(-1_000_001);
            work::take()
        };
        assert!(steps_of(100_000) < steps_of(100) + 40);
    }

    #[test]
    fn orders_that_one_price_reaches_are_taken_in_a_few_steps_each() {
        let mut trailing = Trailing::new(Distances { in_basis_points: false, tick: 1 });
        for number in 1..=100_000 {
            trailing.add(Follower {
                placement: number.into(),
                index: number,
                distance: 50,
                watermark: -1_000_000,
            });
        }
        work::take();
        assert_eq!(trailing.take_reached(-999_950).len(), 100_000);
        assert!(work::take() < 600_000);
        assert!(trailing.take_reached(i64::MAX - 1).is_empty());
    }
}
