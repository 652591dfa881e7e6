"""Token F1 as arithmetic on paper, and the cases where a naive version crashes or drifts."""

import pytest

from sodamem.metric.text import locomo_f1, multi_hop_f1, stems, token_f1


def test_articles_punctuation_case_and_endings_do_not_count():
    assert stems("The Painted, painting and a paints!") == ["paint", "paint", "paint"]


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    precision, recall = 2 / 3, 2 / 2
    assert token_f1("in May 2023", "May 2023") == pytest.approx(2 * precision * recall / (precision + recall))


def test_a_repeated_word_counts_only_as_often_as_the_gold_has_it():
    assert token_f1("dog dog dog", "dog") == pytest.approx(2 * (1 / 3) * 1 / (1 / 3 + 1))


@pytest.mark.parametrize(("answer", "gold"), [("", "May"), ("May", ""), ("", ""), ("the", "a"), ("cat", "dog")])
def test_no_overlap_is_zero_and_no_crash(answer, gold):
    assert token_f1(answer, gold) == 0


def test_multi_hop_matches_each_part_of_the_gold_with_its_best_part():
    assert multi_hop_f1("pottery, camping", "camping, pottery, running") == pytest.approx((1 + 1 + 0) / 3)


def test_an_open_domain_gold_ends_at_its_explanation():
    assert locomo_f1("yes", "Yes; she said so twice", "category_3") == 1
    assert locomo_f1("yes", "Yes; she said so twice", "category_4") < 1


def test_an_adversarial_question_is_won_by_declining():
    assert locomo_f1("This is not mentioned in the conversation.", "not answerable", "category_5") == 1
    assert locomo_f1("a kite", "not answerable", "category_5") == 0
