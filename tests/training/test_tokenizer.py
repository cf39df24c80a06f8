"""The tokenizer: 424 entries, which spell every text of the training sets, and give it back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from symbolic_checker import made
from tokenizer import COMPARISONS, END, LOWEST, MAX_N, PAD, UNKNOWN, make_tokenizer, vocabulary
from transformers import AutoTokenizer

from cogniload_gen.factor.fragments import value_range
from cogniload_gen.factor.training import TRAINING_SETS, select_training_set

TOKENIZER = make_tokenizer()


def texts(name, start, count):
    """Some texts of a training set: a puzzle, a new line, and its solution."""
    cells, _, keys = select_training_set(name).batch(start, start + count)
    return [f"{row['puzzle']}\n{row['solution']}" for row in made(keys, cells)]


def assert_spelt(text):
    ids = TOKENIZER(text)["input_ids"]
    assert TOKENIZER.unk_token_id not in ids
    assert TOKENIZER.decode(ids) == text
    return ids


def test_it_has_the_entries_of_the_paper():
    entries = vocabulary()
    assert len(entries) == len(set(entries)) == len(TOKENIZER) == 424
    assert {*TOKENIZER.get_vocab()} == {*entries}
    assert TOKENIZER.unk_token_id in TOKENIZER("The variable equal to 3 is v39.")["input_ids"]
    assert {*vocabulary(compare=True)} - {*entries} == {*COMPARISONS}
    assert [entries[id] for id in TOKENIZER.all_special_ids] == [END, UNKNOWN, PAD]


@given(st.sampled_from(list(TRAINING_SETS)), st.integers(0, 14_990))
def test_it_spells_every_text_of_the_training_sets(name, start):
    for text in texts(name, start, 2):
        assert_spelt(text)


@pytest.mark.parametrize("value", value_range(MAX_N))
def test_a_number_is_an_entry_or_two(value):
    assert len(assert_spelt(f"v38 = v3 + 1 = {value}\n")) == 6 + (value < LOWEST)


def test_it_is_saved_as_others_read_it(tmp_path):
    TOKENIZER.save_pretrained(tmp_path)
    read = AutoTokenizer.from_pretrained(tmp_path)
    (text,) = texts("pretrain", 3, 1)
    assert read(text)["input_ids"] == TOKENIZER(text)["input_ids"]
    assert read.decode(read(text)["input_ids"]) == text
    assert (read.pad_token, read.eos_token) == (PAD, END)
