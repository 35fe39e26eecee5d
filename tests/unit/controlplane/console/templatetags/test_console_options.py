"""Options of a select are those that Django renders, escaped once."""

from django import forms
from django.forms.renderers import DjangoTemplates

from controlplane.console.forms.base import ConsoleRenderer

CHOICES = [
    ("", "none"),
    ("a<b&\"c'", "A <b>bold</b> & \"quoted\" 'name'"),
    ("Group <1>", [(1, "one"), (2, "two")]),
]


def _words(html: str) -> list[str]:
    return html.replace(">", "> ").replace("<", " <").split()


def test_a_select_is_what_django_makes_of_it() -> None:
    field = forms.ChoiceField(choices=CHOICES, widget=forms.Select(attrs={"class": "slim"}))
    for chosen in ("", "a<b&\"c'", 2):
        ours, usual = (
            field.widget.render("x", chosen, {"id": "id_x"}, renderer)
            for renderer in (ConsoleRenderer(), DjangoTemplates())
        )
        assert _words(ours) == _words(usual)
        assert "&lt;b&gt;bold" in ours
        assert ours.count(" selected") == 1


def test_attributes_of_a_select_are_kept() -> None:
    field = forms.ChoiceField(choices=CHOICES, widget=forms.Select(attrs={"disabled": True}))

    assert '<select name="x" disabled>' in field.widget.render("x", "", {}, ConsoleRenderer())
