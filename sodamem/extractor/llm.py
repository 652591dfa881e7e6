"""A model extracts: windows of a session in, candidate facts out under a schema, and only what the words bear is kept.

The step "extract candidates" of arXiv 2608.08055, section 4.2, with its coarse and entity-subject variants as prompts.
Dates are never asked of the model: it quotes the words, and the timeline reads them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sodamem import prompts
from sodamem.errors import ConfigError, PromptError, ReplyError
from sodamem.extractor.entities import Register
from sodamem.extractor.lexicon import Lexicon, load
from sodamem.extractor.llm_facts import Session as Reading
from sodamem.extractor.llm_facts import Turns
from sodamem.extractor.llm_schema import Candidate, candidates, salvaged, schema
from sodamem.extractor.llm_windows import Part, Window, halves, windows
from sodamem.extractor.rule import speaker_of
from sodamem.extractor.sentences import split
from sodamem.fence import Fence, one_line, record
from sodamem.protocols import Chat, Extractor, Timeline
from sodamem.provenance import piece
from sodamem.types import ChatRequest, Extraction, FactEvent, History, Message, MessagePiece, Session
