"""Without maintenance the memory holds what was said and nothing more."""

from sodamem.maintenance.none import NoMaintenance


def test_nothing_is_added(talk, fact):
    turn = talk({"a 2024-01-01": ["Ann: I live in Bergen."]}).sessions[0].turns[0]
    assert NoMaintenance().dream([fact("f", turn)]) == ((), ())
