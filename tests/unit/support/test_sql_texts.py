"""The finder of tables in SQL, on which the test of table ownership stands."""

from pathlib import Path

import pytest

from tests.support.sql_texts import Use, names_tables_by_placeholder, uses, uses_of_sql

TABLES = {"orders", "trades", "order_numbers"}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM orders", {("orders", False)}),
        ("SELECT 1 FROM public.orders, trades", {("orders", False), ("trades", False)}),
        ("FROM orders AS row_ LEFT JOIN trades USING (id)", {("orders", False), ("trades", False)}),
        ("SELECT * FROM orders FOR NO KEY UPDATE", {("orders", False)}),
        ("SELECT * FROM orders FOR UPDATE OF trades", {("orders", False), ("trades", False)}),
        ("INSERT INTO orders SELECT FROM trades ON CONFLICT DO UPDATE SET a=1", {("orders", True), ("trades", False)}),
        ("UPDATE orders AS o SET a = 1 FROM trades", {("orders", True), ("trades", False)}),
        ("WITH x AS (DELETE FROM orders)\n INSERT\n  INTO trades SELECT FROM x", {("orders", True), ("trades", True)}),
        ("UPDATE ONLY orders SET a = 1", {("orders", True)}),
        ("TRUNCATE orders", {("orders", True)}),
        ("COPY orders FROM STDIN", {("orders", True)}),
        ("DROP TABLE IF EXISTS orders", {("orders", True)}),
        ("SELECT nextval('order_numbers')", {("order_numbers", True)}),
        ("SELECT last_value FROM order_numbers", {("order_numbers", False)}),
        ("SELECT * FROM orders_of_others", set()),
        ("cancels orders and trades", set()),
    ],
)  # fmt: skip
def test_tables_that_sql_reads_and_writes(sql: str, expected: set[tuple[str, bool]]) -> None:
    assert uses_of_sql(sql, TABLES) == expected


def test_sql_is_found_in_literals_f_strings_and_copies_and_not_in_docstrings(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        '"""SELECT from the docstring: FROM orders."""\n'
        'A = "SELECT * FROM orders"\n'
        'B = f"DELETE FROM {A} trades"\n'
        'C = f"INSERT INTO trades ({A}) VALUES ({B})"\n'
        'async def f(c):\n    """UPDATE orders."""\n    await c.copy_records_to_table("orders", records=[])\n'
    )
    assert set(uses(source, TABLES)) == {
        Use(source, 2, "orders", False),
        Use(source, 3, "trades", False),
        Use(source, 4, "trades", True),
        Use(source, 7, "orders", True),
    }


def test_whoever_names_a_table_for_the_sql_of_a_shared_package_writes_it(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        'A = Store(pool, table="orders")\nB = Store(pool, table="others")\nC = Store(pool, name="trades")\n'
    )
    assert list(uses(source, TABLES)) == [Use(source, 1, "orders", True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('f"SELECT 1 FROM {table} WHERE a"', True),
        ('f"""UPDATE\n {self.table} SET a = 1"""', True),
        ('f"INSERT INTO {table}"', True),
        ('f"SELECT {columns} FROM orders WHERE status IN {states}"', False),
        ('f"SELECT 1 FROM orders FOR UPDATE {rule}"', False),
    ],
)
def test_a_placeholder_for_a_tables_name_is_found(text: str, expected: bool, tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(f"A = {text}\n")
    assert names_tables_by_placeholder(source) is expected
