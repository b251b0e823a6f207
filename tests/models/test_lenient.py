"""Values that models give for a class: what is put right, what a strict class gets, and what stays refused."""

from __future__ import annotations

import enum
from datetime import UTC, date, datetime
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mnemoscope.models.lenient import read_as, say_problem
from pydantic import BaseModel, ConfigDict, Field, ValidationError


class Mood(enum.Enum):
    GOOD = "good"
    BAD = "bad"


class Pet(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    name: str
    age: int = 0


class Person(BaseModel):
    """A strict class with a field of every common kind, each with a default."""

    model_config = ConfigDict(strict=True, extra="forbid")

    name: str = ""
    born: date | None = None
    seen: datetime | None = None
    mood: Mood = Mood.GOOD
    diet: Literal["vegan", "omnivore"] = "omnivore"
    tags: list[str] = Field(default_factory=list)
    limits: tuple[int, ...] = ()
    height: float = 0.0
    siblings: int = 0
    is_left_handed: bool = False
    pet: Pet | None = None
    pets: list[Pet] = Field(default_factory=list)
    scores: dict[str, int] = Field(default_factory=dict)
    number: int | list[str] | None = None


class Needy(BaseModel):
    name: str
    age: int


@pytest.mark.parametrize(
    ("field", "given", "read"),
    [
        ("born", "1985-02-03", date(1985, 2, 3)),
        ("born", "1985-02-03T10:30:00", date(1985, 2, 3)),
        ("born", "", None),
        ("born", "null", None),
        ("seen", "2025-03-04T10:00:00Z", datetime(2025, 3, 4, 10, tzinfo=UTC)),
        ("seen", "", None),
        ("mood", "bad", Mood.BAD),
        ("mood", "BAD", Mood.BAD),
        ("mood", None, Mood.GOOD),
        ("diet", "Vegan", "vegan"),
        ("diet", None, "omnivore"),
        ("tags", "diet", ["diet"]),
        ("tags", '["a", "b"]', ["a", "b"]),
        ("tags", None, []),
        ("tags", ["a", None, "b"], ["a", "b"]),
        ("tags", ["a", None, 3], ["a", "3"]),
        ("limits", 3, (3,)),
        ("name", 42, "42"),
        ("name", None, ""),
        ("name", ["Ana"], "Ana"),
        ("height", "1.68", 1.68),
        ("siblings", "2", 2),
        ("siblings", 2.0, 2),
        ("is_left_handed", "yes", True),
        ("is_left_handed", "False", False),
        ("pet", {"name": "Miso", "age": "3"}, Pet(name="Miso", age=3)),
        ("pet", '{"name": "Miso"}', Pet(name="Miso")),
        ("pet", [{"name": "Miso"}], Pet(name="Miso")),
        ("pet", {"name": "Miso", "colour": "red"}, Pet(name="Miso")),
        ("pets", {"name": "Miso", "age": None}, [Pet(name="Miso")]),
        ("scores", '{"chess": 3}', {"chess": 3}),
        ("scores", None, {}),
        ("number", "7", 7),
        ("invented", "value", None),
    ],
)
def test_what_has_one_meaning_is_read(field: str, given: Any, read: Any) -> None:
    assert getattr(read_as(Person, {"name": "Ana", field: given}), field, None) == read


def test_an_object_is_read_from_its_text_too() -> None:
    assert read_as(Person, '{"name": "Ana", "siblings": "2"}') == Person(name="Ana", siblings=2)


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("born", "next Friday"),
        ("born", "1985-13-01"),
        ("mood", "so-so"),
        ("siblings", "two"),
        ("siblings", 2.5),
        ("name", {"first": "Ana"}),
        ("name", True),
        ("is_left_handed", "perhaps"),
        ("pet", "Miso"),
        ("pet", {"age": 3}),
        ("scores", "many"),
    ],
)
def test_what_could_mean_anything_is_refused_as_it_was_given(field: str, given: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        read_as(Person, {field: given})
    assert say_problem(caught.value).startswith(field)


def test_what_is_required_is_not_made_up() -> None:
    with pytest.raises(ValidationError, match="age"):
        read_as(Needy, {"name": "Ana", "age": None})


def test_the_value_itself_is_left_alone() -> None:
    given = {"tags": "a", "pets": [{"name": "Miso", "age": "3"}]}
    read_as(Person, given)
    assert given == {"tags": "a", "pets": [{"name": "Miso", "age": "3"}]}


ODD = [None, "", "x", "3", 3, 2.5, True, float("nan"), [None], [[]], "{", "[1", {"name": {"name": []}}, [{"name": 1}]]


@given(st.dictionaries(st.sampled_from([*Person.model_fields, "x"]), st.sampled_from(ODD), max_size=6))
def test_whatever_a_model_gives_is_read_or_refused(given: dict[str, Any]) -> None:
    try:
        assert isinstance(read_as(Person, given), Person)
    except ValidationError:
        assert given
