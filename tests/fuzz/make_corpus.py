#!/usr/bin/env python3
"""Writes the small seeds of tests/fuzz/corpus: one of each thing that a format can hold, and some that it must not.
libFuzzer makes the rest from them."""
import gzip
import json
import pathlib
import pickle
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus"


def seed(kind, name, content):
    folder = CORPUS / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def packed(width, ids, spans):
    data = b"".join(i.to_bytes(width, "little") for i in ids)
    return struct.pack("<QI", len(data), width) + data + pickle.dumps(spans, protocol=4)


def span_indices():
    for protocol in range(2, 6):
        seed("span_index", f"protocol_{protocol}", pickle.dumps([(0, 5), (6, 300), (307, 70_000)], protocol=protocol))
    seed("span_index", "empty", pickle.dumps([]))
    seed("span_index", "one", pickle.dumps([(0, 1)]))
    seed("span_index", "shared_numbers", pickle.dumps([(7, 7)] * 5))
    seed("span_index", "long", pickle.dumps([(i * 1000, 999) for i in range(1100)]))
    seed("span_index", "large", pickle.dumps([(2**40, 2**62), (2**31, 2**32)]))
    seed("span_index", "negative", pickle.dumps([(-1, 5)]))
    seed("span_index", "dictionary", pickle.dumps({"offset": 1}))
    seed("span_index", "calls", b"cos\nsystem\n(S'true'\ntR.")


def compressed_texts():
    text = b'{"text": "a line"}\n' * 50 + bytes(range(256))
    member = gzip.compress(text, mtime=0)
    with_name = b"\x1f\x8b\x08\x08" + member[4:10] + b"a name\0" + member[10:]
    for name, content in (("member", member), ("members", member + member), ("empty", gzip.compress(b"", mtime=0)),
                          ("with_name", with_name), ("cut", member[:-3]), ("followed", member + b"{}")):
        seed("compressed_text", "gzip_" + name, b"\0" + content)
    # RFC 8878: a frame with its size, of one raw block and one of equal bytes; a frame to be passed over; a large window.
    frame = b"\x28\xb5\x2f\xfd\x20\x0b" + b"\x28\0\0hello" + b"\x33\0\0!"
    skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc"
    for name, content in (("frame", frame), ("frames", frame + skipped + frame), ("cut", frame[:-2]), ("skipped", skipped),
                          ("large_window", b"\x28\xb5\x2f\xfd\0\xa0"), ("followed", frame + b"{}")):
        seed("compressed_text", "zstd_" + name, b"\1" + content)


def jinja_templates():
    """Small templates of our own, one for each kind of statement and expression."""
    for name, text in (
        ("turns", "{{ bos_token }}{% for m in messages if m.role != 'x' %}<{{ m['role'] }}>{{ m.content | trim }}{% if not loop.last %};{% endif %}{% else %}none{% endfor %}"),
        ("macro", "{% macro f(a, b=2) -%} {{ a ~ b }} {{ caller() if caller }} {%- endmacro %}{% call f(1) %}x{% endcall %}{{ f(b=3, a=x) }}"),
        ("namespace", "{% set ns = namespace(t='') %}{% for i in range(3) %}{% set ns.t = ns.t + i|string %}{% break %}{% endfor %}{{ ns.t }}"),
        ("generation", "{% generation %}a{% endgeneration %}{% filter upper %}b{% endfilter %}{% set c %}d{% endset %}{{ c }}"),
        ("filters", "{{ messages|selectattr('role', 'equalto', 'user')|map(attribute='content')|join(', ')|replace('O', '0')|tojson(indent=2) }}"),
        ("methods", "{{ 'a-b'.split('-')[-1].strip('x')|upper ~ '%5.2f'|format(x) ~ 'a{}'.format(1) ~ messages[0].items()|list }}"),
        ("arithmetic", "{{ (1 + 2 * 3 - 4 // 3) ** 2 % 5 / x < 7 and not none or [1, (2,), {'a': [3]}][::-1] is defined }}"),
        ("white_space", "a\n  {%- if true -%}\n b {# c #}\n{% endif +%}\n{% raw %}{{ x }}{% endraw %}"),
        ("endless", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"),
        ("refusal", "{{ raise_exception('no') }}"),
        ("recursive", "{% for i in [[1, [2]]] recursive %}{% if i is iterable %}{{ loop(i) }}{% else %}{{ i }}{% endif %}{% endfor %}"),
    ):
        seed("jinja_template", name, text)


def packed_files():
    for width in (1, 2, 4):
        seed("packed_file", f"width_{width}", packed(width, [1, 2, 0, 3, 0], [(0, 3 * width), (3 * width, 2 * width)]))
    seed("packed_file", "no_tokens", packed(2, [], []))
    seed("packed_file", "beyond_the_end", packed(2, [1, 2], [(0, 400)]))
    seed("packed_file", "cuts_a_token", packed(2, [1, 2], [(1, 2)]))


def tokenizers():
    letters = {letter: i for i, letter in enumerate("abcdeĠH▁")}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    split = {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}|\s+(?!\S)|\s+|\p{L}+"}, "behavior": "Isolated", "invert": False}
    added = {"id": 20, "content": "<s>", "single_word": False, "lstrip": False, "rstrip": True, "normalized": False, "special": True}
    bpe = {"type": "BPE", "vocab": letters | {"ab": 8, "abc": 9}, "merges": ["a b", ["ab", "c"]]}
    unigram = {"type": "Unigram", "unk_id": 0, "byte_fallback": False, "vocab": [["<unk>", 0.0], ["▁", -1.0], ["a", -2.0], ["▁a", -2.5]]}
    wordpiece = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                 "vocab": {"[UNK]": 0, "a": 1, "##a": 2, "hello": 3, "##b": 4}}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    template = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [20], "tokens": ["<s>"]}}}
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    byte_decoder = {"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}

    def write(name, model, normalizer=None, pre_tokenizer=None, decoder=None, post_processor=None):
        seed("tokenizer_json", name, json.dumps({
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": [added], "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer, "post_processor": post_processor, "decoder": decoder, "model": model}, ensure_ascii=False))

    write("byte_level", bpe, None, byte_level, byte_level)
    write("split", bpe, {"type": "NFC"}, {"type": "Sequence", "pretokenizers": [split, byte_level | {"use_regex": False}]}, byte_level, template)
    write("byte_fallback", bpe | {"byte_fallback": True, "unk_token": "a", "fuse_unk": True},
          {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
          None, byte_decoder)
    write("unigram", unigram, {"type": "NFKC"}, metaspace, metaspace)
    write("wordpiece", wordpiece, bert, {"type": "BertPreTokenizer"}, {"type": "WordPiece", "prefix": "##", "cleanup": True})


FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures"
# Of the pieces: NORMAL 1, UNKNOWN 2, CONTROL 3, USER_DEFINED 4, UNUSED 5, BYTE 6.
UNKNOWN, BEGIN, END = ("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)


def field(number, value):
    """A field of a message of Protocol Buffers: bytes and texts with their length, numbers as varints, reals in 32 bits."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def sentence_pieces():
    def write(name, pieces, algorithm, training=b"", normalization=b"", before=b"", behind=b""):
        listed = b"".join(field(1, field(1, text) + field(2, score) + field(3, kind)) for text, score, kind in pieces)
        seed("sentence_piece", name, before + listed + field(2, field(3, algorithm) + training) + field(3, normalization) + behind)

    words = [(text, -float(i), 1) for i, text in enumerate(("▁", "a", "l", "o", "▁H", "He", "ll", "llo", "▁He", "aa"))]
    of_bytes = [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)]
    unigram, bpe, word, character = 1, 2, 3, 4
    write("unigram", [UNKNOWN, BEGIN, END, *words], unigram)
    write("bpe", [UNKNOWN, BEGIN, END, *words], bpe)
    write("bpe_with_bytes", [UNKNOWN, BEGIN, END, *of_bytes, *words], bpe, training=field(35, 1))
    write("words", [UNKNOWN, BEGIN, END, *words], word)
    write("characters", [UNKNOWN, BEGIN, END, *words], character)
    write("user_defined", [UNKNOWN, BEGIN, END, ("Hello", 0.0, 4), ("▁a", 0.0, 5), *words], unigram, training=field(24, 1))
    write("without_spaces", [UNKNOWN, *words], unigram, normalization=field(3, 0) + field(4, 0) + field(5, 0))
    write("behind_group", [UNKNOWN, *words], unigram, before=b"\x33\x34")
    write("map_behind_group", [UNKNOWN, *words], unigram, behind=b"\x33\x34" + field(3, field(2, b"\x08\0\0\0\1\2")))
    write("map_is_cut", [UNKNOWN, *words], unigram, normalization=field(2, b"\x08\0\0\0\1\2"))
    write("no_unknown", words, unigram)
    write("twice", [UNKNOWN, *words, *words], bpe)
    write("scores", [UNKNOWN, ("a", float("nan"), 1), ("aa", float("inf"), 1), ("▁", -1e38, 1)], unigram)
    write("endless", [UNKNOWN, ("", -1.0, 1), ("a", -1.0, 1)], unigram, behind=b"\xff" * 20)


def parquet_tables():
    for table in sorted((FIXTURES / "parquet").glob("*.parquet")):
        if table.stat().st_size <= 6000 and table.stem != "bomb":  # which takes a second each time
            seed("parquet_table", table.stem, table.read_bytes())


def benchmark_questions():
    def write(name, which, *questions):
        lines = (question if isinstance(question, str) else json.dumps(question, ensure_ascii=False) for question in questions)
        seed("benchmark_questions", name, bytes([which]) + "\n".join(lines).encode())

    hellaswag, arc, mmlu, mmlu_values = range(4)
    for which, name in enumerate(("hellaswag", "arc", "mmlu")):
        write(name, which, *(FIXTURES / "tasks" / f"{name}.jsonl").read_text().splitlines()[:2])
    ended = {"ctx": "a [title] b.", "activity_label": "c", "endings": ["d", "  e [f] g"], "label": "1"}
    write("hellaswag_label", hellaswag, ended | {"label": 1}, ended | {"label": 2}, ended | {"label": "-1"}, ended | {"label": 2**63})
    write("hellaswag_parts", hellaswag, {"ctx_a": "a.", "ctx_b": "b", **ended}, ended | {"ctx_b": "ß"}, ended | {"endings": []})
    asked = {"question": "a", "choices": {"text": ["b", "c"], "label": ["A", "B"]}, "answerKey": "B"}
    write("arc_labels", arc, asked, asked | {"choices": {"text": ["b"], "label": ["A", "B"]}}, asked | {"answerKey": "1"})
    write("arc_other_kinds", arc, asked | {"choices": ["b"]}, asked | {"answerKey": 1}, [asked], "null", "{")
    write("mmlu_answers", mmlu, {"question": "a", "choices": ["b", "c", "d", "e"], "answer": 3, "subject": "an_area"},
          {"question": "a", "choices": ["b"] * 5, "answer": "A"}, {"question": "\n", "choices": ["b"] * 4, "answer": 4})
    write("arc_published", arc, *(FIXTURES / "tasks/published/arc.jsonl").read_text().splitlines()[:2])
    write("mmlu_published", mmlu_values, (FIXTURES / "tasks/published/mmlu/slow_rivers_dev.csv").read_text())
    write("mmlu_values", mmlu_values, "a,b,c,d,e,A", "\"a,\"\"\",b,c,d,e,D", "a,b,c,d,e,E")


def tool_calls():
    def write(name, piece, answer):
        seed("tool_calls", name, bytes([piece]) + answer.encode())

    call = '{"name": "get_weather", "arguments": {"city": "Bonn", "days": [1, 2]}}'
    write("marked", 3, f"I look.\n<tool_call>\n{call}\n</tool_call>\n<tool_call>{call}</tool_call> Done.")
    write("alone", 15, call)
    write("list", 0, f"[{call}, {call}]")
    write("lines", 6, call + "\n" + call.replace("arguments", "parameters") + ";")
    write("mistral", 4, f"[TOOL_CALLS][{call}]")
    write("unknown", 2, '<tool_call>{"name": "g", "arguments": {}}</tool_call>')
    write("cut", 1, "<tool_call>" + call[:40])
    write("in_a_text", 5, 'A brace { and <tool_call> and "</tool_call>"')


def csv_records():
    def write(name, text):
        seed("csv_records", name, text.encode())

    write("plain", "a,b\nc,,d\n")
    write("quoted", '"a,b","c""d"\r\n"e\n\nf",\r\n')
    write("marks_within", '\ufeffa"b,c""d\n\n\r\n"",""')
    write("malformed", '"a"b\n')
    write("cut", 'a\n"b\n')


def companion_configs():
    def write(name, *files):
        seed("companion_configs", name, "\0".join(file if isinstance(file, str) else json.dumps(file) for file in files))

    chat = "{% for m in messages %}{{ m.role }}{% endfor %}{{ eos_token }}"
    token = {"__type": "AddedToken", "content": "<|im_end|>", "special": True}
    write("ids", {"eos_token_id": [257, 259], "temperature": 0.6}, {"eos_token": "<|im_end|>"})
    write("sampling", {"temperature": 0.7, "top_p": 0.8, "top_k": 20, "min_p": 0.05, "repetition_penalty": 1.05, "do_sample": True})
    write("sampling_wrong", {"temperature": -1, "top_p": 2, "top_k": "20", "repetition_penalty": None})
    write("tokens", {"eos_token_id": 258}, {"eos_token": token, "bos_token": None, "chat_template": chat})
    write("templates", "", {"chat_template": [{"name": "default", "template": chat}, {"name": "tool_use", "template": chat}]})
    write("template_files", "", {"pad_token": token}, {"chat_template": {"default": chat}}, chat)
    write("named_files", "", {"eos_token": token}, "", chat, "{{ tools }}" + chat)
    write("added", "", {"added_tokens_decoder": {"257": token, "x": token}, "additional_special_tokens": ["<|im_start|>", token], "eos_token": 257})
    write("no_tokens", {"eos_token_id": 2**63}, {"eos_token": "<|none|>", "chat_template": 3})
    write("other_kinds", [], "null", {"chat_template": [chat]}, "{% for")
    write("negative", {"eos_token_id": [-1, True, "<|im_end|>", [257]]}, '{"eos_token": "\\ud83d"}')


def json_schemas():
    for i, case in enumerate(json.loads((FIXTURES / "json_schemas" / "documents.json").read_text())[:40]):
        seed("json_schema", f"case_{i:02}", json.dumps(case["schema"]))
    for name, schema in (
        ("recursive", {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/a"}}]}}}),
        ("endless", {"$ref": "#"}),
        ("nothing", {"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"], "additionalProperties": False}),
        ("numbers", {"type": "number", "minimum": -1.5e3, "exclusiveMaximum": 1e-7}),
        ("integers", {"type": "integer", "minimum": -9223372036854775809, "maximum": 99999999999999999999}),
        ("counts", {"type": "array", "minItems": 2, "maxItems": 1024, "items": {"type": "string", "maxLength": 1024}}),
        ("names", {"type": "object", "properties": {"": {}, "a~/%": {"const": "\u2028\ud83d\ude00"}}, "required": ["b"]}),
        ("kinds", {"type": ["string", "null", "object"], "enum": [None, {"a": [1.0, 1e400]}, "x"]}),
    ):
        seed("json_schema", name, json.dumps(schema))


def served_requests():
    def write(name, request):
        seed("served_request", name, request if isinstance(request, (bytes, str)) else json.dumps(request))

    question = {"role": "user", "content": "a"}
    schema = {"type": "object", "properties": {"b": {"enum": [1, 2]}}, "required": ["b"], "additionalProperties": False}
    tool = {"type": "function", "function": {"name": "f", "strict": True, "parameters": schema}}
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"b": 1}'}}
    sampling = {"temperature": 0.5, "top_p": 0.9, "min_p": 0.1, "top_k": 5, "repetition_penalty": 1.1, "frequency_penalty": -2,
                "presence_penalty": 2, "seed": -1, "stop": ["a", "b"], "logit_bias": {"65": -100, "256": 1.5}, "n": 2, "max_tokens": 5}
    write("completion", {"model": "model", "prompt": "a", "echo": True, "logprobs": 3, **sampling})
    write("prompts", {"prompt": ["a", [65, 66]], "stream": True, "stream_options": {"include_usage": True}})
    write("ids", {"prompt": [65, 256, 2**32, -1]})
    write("chat", {"messages": [{"role": "system", "content": [{"type": "text", "text": "a"}]}, question], "logprobs": True, "top_logprobs": 2, **sampling})
    write("tools", {"messages": [question, {"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "1", "content": "c"}],
                    "tools": [tool], "tool_choice": "required", "parallel_tool_calls": False})
    write("named_tool", {"messages": [question], "tools": [tool], "tool_choice": {"type": "function", "function": {"name": "f"}}})
    write("format", {"messages": [question], "response_format": {"type": "json_schema", "json_schema": {"name": "d", "strict": True, "schema": schema}}})
    write("any_object", {"messages": [question], "tools": [tool], "response_format": {"type": "json_object"}})
    write("unknown", {"prompt": "a", "user": None, "unknown\n": 1})
    write("too_long", {"prompt": "a" * 300})
    write("broken", '{"prompt": "a", "prompt": 1, "max_tokens": 1e400}')
    write("not_utf8", b'{"prompt": "\xff", "model": "\xc3"}')
    write("deep", '{"prompt": ' + "[" * 2000)


def json_lines():
    seed("json_lines", "records", '{"text": "a"}\n{"text": "\\u00e9\\ud83d\\ude00", "n": [1, 2.5e3, null, true]}\n{"text": ""}')
    seed("json_lines", "broken", '{"text": 1}\n\n{"text": "a"\n{"other": "a"}\n[]\n"text"\n{"text": "\\ud83d"}\n')
    seed("json_lines", "twice", '{"text": "a", "text": "b"} {"text": "c"}\r\n')
    seed("json_lines", "not_utf8", b'{"text": "\xff\xfe"}\n{"\xc0\xaf": 1}\n\xef\xbb\xbf{"text": "b"}\n')


def preference_records():
    chat = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    other = chat[:1] + [{"role": "assistant", "content": [{"type": "text", "text": "c"}], "weight": 1}]

    def write(name, *records):
        seed("preference_records", name, "\n".join(r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records))

    write("texts", {"prompt": "a", "chosen": " b", "rejected": " c"}, {"chosen": "a ä", "rejected": "a ö"}, {"prompt": None, "chosen": "b", "rejected": "c"})
    write("chats", {"prompt": chat[:1], "chosen": chat[1:], "rejected": other[1:]}, {"chosen": chat, "rejected": other}, {"prompt": "a", "chosen": chat, "rejected": other})
    write("sharegpt", {"chosen": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}], "rejected": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "c"}]})
    write("same", {"prompt": "a", "chosen": "b", "rejected": "b"}, {"chosen": chat, "rejected": chat}, {"chosen": "a", "rejected": "a b"}, {"chosen": "", "rejected": " "})
    write("other_kinds", {"prompt": 1, "chosen": [], "rejected": {}}, [], "null", {"chosen": "b"}, {"prompt": [chat], "chosen": [1], "rejected": [[]]})
    write("broken", '{"prompt": "a", "chosen": "b"', "", '{"chosen": "\\ud83d", "rejected": "c"}')
    write("half_a_character", {"chosen": "\U0001F600", "rejected": "\U0001F601"}, {"chosen": "e\u0301", "rejected": "e\u0302"})


def reference_scores():
    # Both hashes are wrong; the harness puts the right ones there. Its set has two samples.
    def write(name, samples, sequences, scores, version=1, magic=b"monorefs"):
        seed("reference_scores", name, magic + struct.pack("<5Q", version, samples, sequences, 0, 0) + struct.pack(f"<{len(scores)}d", *scores))

    write("right", 2, 2, [-1, -2.5, -3, float("nan")])
    write("one_short", 2, 2, [-1, -2, -3])
    write("one_too_many", 2, 2, [-1] * 5)
    write("other_samples", 4, 1, [-1] * 4)
    write("overflow", 2**63, 2, [])
    write("newer", 2, 2, [-1] * 4, version=2)
    write("other_file", 2, 2, [-1] * 4, magic=b"monomask")
    seed("reference_scores", "cut_header", b"monorefs" + bytes(39))


def loss_masks():
    # The hashes are wrong; the harness puts the right ones there. Its set has 13 tokens.
    def write(name, bits, tokens=13, counted=None, sequence=4, version=1, magic=b"monomask"):
        if counted is None:
            counted = sum(byte.bit_count() for byte in bits)
        seed("loss_mask", name, magic + struct.pack("<8Q", version, tokens, counted, sequence, 0, 0, 0, 0) + bits)

    write("right", b"\x5a\x13")
    write("none_counts", bytes(2))
    write("all_count", b"\xff\x1f")
    write("bits_behind_the_last", b"\x5a\xf3")
    write("counts_others", b"\x5a\x13", counted=2**63)
    write("other_samples", b"\x5a\x13", sequence=2**64 - 1)
    write("other_tokens", bytes(3), tokens=17)
    write("overflow", b"", tokens=2**64 - 1)
    write("one_short", b"\x5a")
    write("newer", b"\x5a\x13", version=2)
    write("other_file", b"\x5a\x13", magic=b"monorefs")
    seed("loss_mask", "cut_header", b"monomask" + bytes(63))


def safetensors():
    def write(name, header, data=b""):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        seed("safetensors", name, struct.pack("<Q", len(text)) + text + data)

    write("two", {"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
                  "b": {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]}}, bytes(22))
    write("scalar_and_empty", {"a": {"dtype": "I64", "shape": [], "data_offsets": [0, 8]},
                               "b": {"dtype": "U8", "shape": [0, 5], "data_offsets": [8, 8]}}, bytes(8))
    write("none", {})
    write("overlap", {"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}, "b": {"dtype": "U8", "shape": [4], "data_offsets": [2, 6]}}, bytes(6))
    write("overflow", {"a": {"dtype": "F64", "shape": [2**62, 4], "data_offsets": [0, 0]}})
    seed("safetensors", "long_header", struct.pack("<Q", 2**63) + b"{}")


def checkpoint_metadata():
    # The checksum is wrong; the harness puts the right one there.
    full = {"format_version": 1, "step": 3, "tokens": 300, "sample_counter": 30, "ranks": 1,
            "recipe": {"fingerprint": "00ff00ff00ff00ff", "state_fingerprint": "ff00ff00ff00ff00", "facts": {"precision": "Fp32"},
                       "description": "recipe\n"},
            "hyperparameters": {"run": {"steps": 3}},
            "counters": {"updates": 3, "scale": 0.5, "worst": "-Infinity"},
            "files": [{"name": "rank_00000.safetensors", "bytes": 100, "xxh64": "0123456789abcdef"}],
            "metadata_checksum": "0123456789abcdef"}
    seed("checkpoint_metadata", "full", json.dumps(full))
    seed("checkpoint_metadata", "newer", json.dumps(full | {"format_version": 99}))
    seed("checkpoint_metadata", "negative", json.dumps(full | {"step": -3}))
    seed("checkpoint_metadata", "wrong_types", json.dumps(full | {"step": "3", "files": {}}))
    seed("checkpoint_metadata", "regions", json.dumps(full | {"format_version": 3}))
    seed("checkpoint_metadata", "deep", "[" * 2000)


def checkpoint_parts():
    seed("checkpoint_parts", "shards", "12 from 0 of 4x8\n20 from 12 of 4x8\n")
    seed("checkpoint_parts", "columns", "5 from 0 of 4x3 at 0,0 of 4x8\n7 from 5 of 4x3 at 0,0 of 4x8\n20 from 0 of 4x5 at 0,3 of 4x8\n")
    seed("checkpoint_parts", "blocks", "12 from 0 of 1x3x4 at 0,0,0 of 2x3x4\n3 from 0 of 1x3x1 at 1,0,0 of 2x3x4\n"
         "3 from 0 of 1x1x3 at 1,0,1 of 2x3x4\n6 from 0 of 1x2x3 at 1,1,1 of 2x3x4\n")
    seed("checkpoint_parts", "overlap", "16 from 0 of 4x4 at 0,0 of 4x8\n20 from 0 of 4x5 at 0,3 of 4x8\n")
    seed("checkpoint_parts", "vast", f"9 from {2**60} of {2**61}x1 at 0,1 of {2**61}x3\n8 from 0 of {2**63}\n8 from 0 of {2**62}x8\n")
    seed("checkpoint_parts", "many_dimensions", "4 from 0 of 1x1x1x2x2 at 0,0,0,0,0 of 1x1x1x2x4\n8 from 0 of 1x1x1x2x4\n")


def hparams():
    recipes = pathlib.Path(__file__).resolve().parents[2] / "recipes"
    for name in ("quickstart", "gpt2_fsdp_bf16"):
        seed("hparams", name, (recipes / f"{name}.json").read_bytes())
    seed("hparams", "unknown_key", '{"run": {"step": 3}}')
    seed("hparams", "best", '{"checkpoint": {"keep_best": true, "best_metric": "margin", "best_is": "highest", "best_by": "a"}, "data": {"evaluation": {"a": "a", "b": "b"}}}')
    seed("hparams", "numbers", '{"optimizer": {"lr": 1e400, "beta1": -0.0}, "run": {"steps": 3.5, "seed": 99999999999999999999}}')
    seed("hparams", "many", '{"a": 0, "b\\n": [{"c": {}}], "run": {"steps": "x", "seed": []}, "data": {"train": [1, {"d": [], "path": {}}]}}')
    seed("hparams", "twice", '{"run": {"steps": 3, "steps": 4}, "run": {}} x')


def model_configs():
    folders = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "weights"
    for config in sorted(folders.glob("*/config.json")):
        seed("model_config", config.parent.name, config.read_text())
    llama = json.loads((folders / "llama" / "config.json").read_text())
    seed("model_config", "of_no_known_type", json.dumps({"model_type": "mamba"}))
    seed("model_config", "rotary_scaling", json.dumps(llama | {"rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}}))
    seed("model_config", "huge_numbers", json.dumps(llama | {"hidden_size": 2**63, "num_hidden_layers": 1e300, "num_attention_heads": -1}))
    seed("model_config", "key_twice", '{"model_type": "gpt2", "model_type": "llama"}')


def sentence_modules():
    names = ("modules.json", "1_Pooling/config.json", "2_Dense/config.json", "2_Normalize/config.json",
             "sentence_bert_config.json", "config_sentence_transformers.json")
    folders = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "sentence_transformers"
    for modules in sorted(folders.glob("*/modules.json")):
        files = [modules.parent / name for name in names]
        seed("sentence_modules", modules.parent.name, "\0".join(file.read_text() if file.exists() else "{}" for file in files))
    kinds = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"), ("Normalize", "2_Normalize")
    listed = [{"path": path, "type": f"sentence_transformers.models.{kind}"} for kind, path in kinds]
    dense = {"in_features": 32, "out_features": 8, "bias": False, "activation_function": "torch.nn.modules.linear.Identity"}
    def together(modules=listed, pooling={"pooling_mode_cls_token": True}, dense=dense, text={"max_seq_length": 8}, prompts={}):
        return "\0".join(json.dumps(file) for file in (modules, pooling, dense, {}, text, prompts))
    seed("sentence_modules", "all", together())
    seed("sentence_modules", "path_outside", together(listed[:1] + [listed[1] | {"path": "../1_Pooling"}]))
    seed("sentence_modules", "modes", together(pooling={"pooling_mode": ["cls", "max"]}))
    seed("sentence_modules", "tanh", together(dense=dense | {"activation_function": "torch.nn.modules.activation.Tanh"}))
    seed("sentence_modules", "huge_numbers", together(dense=dense | {"out_features": 2**63}, text={"max_seq_length": -1}))
    seed("sentence_modules", "prompt", together(prompts={"prompts": {"query": "q: "}, "default_prompt_name": "query"}))
    seed("sentence_modules", "no_prompt", together(prompts={"prompts": {}, "default_prompt_name": "query"}))


def adapter_configs():
    folders = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "adapters"
    for config in sorted(folders.glob("*/adapter_config.json")):
        seed("adapter_config", config.parent.name, config.read_text())
    usual = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"]}
    seed("adapter_config", "accepted", json.dumps(usual))
    seed("adapter_config", "real_numbers", json.dumps(usual | {"r": 8.0, "lora_alpha": 16.5, "lora_dropout": 1e300}))
    seed("adapter_config", "patterns", json.dumps(usual | {"rank_pattern": {"q_proj": 4}, "modules_to_save": ["lm_head"], "use_dora": True}))
    joined = {"rank_pattern": {"c_attn": 24}, "alpha_pattern": {"c_attn": 48}}
    seed("adapter_config", "joined", json.dumps(usual | {"target_modules": ["c_attn", "c_fc"]} | joined))
    seed("adapter_config", "not_lora", json.dumps({"peft_type": ["LORA"], "r": "8"}))
    seed("adapter_config", "key_twice", '{"peft_type": "LORA", "r": 8, "r": 4}')


def quantized_matrices():
    usual = {"quant_type": "nf4", "blocksize": 64, "dtype": "float32", "shape": [2, 64], "nested_blocksize": 256,
             "nested_dtype": "float32", "nested_offset": 0.25}
    seed("quantized_matrix", "accepted", json.dumps(usual))
    seed("quantized_matrix", "one_row", json.dumps(usual | {"shape": [1, 128]}))
    seed("quantized_matrix", "huge", json.dumps(usual | {"shape": [2**62, 64]}))
    seed("quantized_matrix", "negative", json.dumps(usual | {"shape": [-2, -64]}))
    seed("quantized_matrix", "infinite", json.dumps(usual).replace("0.25", "1e999"))
    seed("quantized_matrix", "fp4", json.dumps(usual | {"quant_type": "fp4"}))
    seed("quantized_matrix", "scales_in_fp32", json.dumps({key: usual[key] for key in ("quant_type", "blocksize", "dtype", "shape")}))


def weights_indices():
    def write(name, weight_map):
        seed("weights_index", name, json.dumps({"metadata": {"total_size": 8}, "weight_map": weight_map}))

    write("two_files", {"a": "1.safetensors", "b": "2.safetensors"})
    write("one_file", {"a": "1.safetensors"})
    write("wrong_file", {"a": "2.safetensors", "b": "1.safetensors"})
    write("one_too_many", {"a": "1.safetensors", "b": "2.safetensors", "c": "2.safetensors"})
    write("outside", {"a": "../1.safetensors", "b": "/etc/passwd"})
    write("no_names", {"a": 1})
    seed("weights_index", "no_map", "{}")


if __name__ == "__main__":
    for make in (span_indices, compressed_texts, packed_files, tokenizers, json_lines, preference_records, reference_scores, loss_masks, sentence_pieces, parquet_tables,
                 benchmark_questions, csv_records, tool_calls, companion_configs, json_schemas, served_requests, safetensors, checkpoint_metadata, checkpoint_parts, hparams, model_configs,
                 weights_indices, sentence_modules, adapter_configs, jinja_templates, quantized_matrices):
        make()
