"""The economic simulation: attackers with several accounts against the platform's rules about prices.

Virtual time, seeded, no servers. `world` composes the rules, `honest` has the actors who know the honest price,
`attacks` the strategies, `auditor` the judge, and `mutants` worlds that lack a guard.
"""
