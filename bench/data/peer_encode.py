"""Encodes the documents of a JSON Lines file once with a peer, in one thread, and prints one line of JSON. The peer is
new, so that what it remembers is empty; only encoding is timed.
Usage: peer_encode.py tiktoken|tokenizers <tokenizer.json> <documents.jsonl> [<least bytes of text: repeated up to that>]"""
import json
import sys
import time


def from_byte_level():
    """The byte that each character of the byte-level alphabet stands for."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def tiktoken_encode(path):
    import tiktoken
    tokenizer, byte_of = json.load(open(path)), from_byte_level()
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    ranks = {bytes(byte_of[c] for c in token): i for token, i in tokenizer["model"]["vocab"].items() if token not in special}
    pattern = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"  # as tiktoken_ext has it
    return tiktoken.Encoding("gpt2", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special).encode_ordinary


def tokenizers_encode(path):
    import tokenizers
    tokenizer = tokenizers.Tokenizer.from_file(path)
    return lambda text: tokenizer.encode_batch_fast([text], add_special_tokens=False)[0].ids


def main():
    peer, path, documents = sys.argv[1:4]
    least_bytes = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    texts = [json.loads(line)["text"] for line in open(documents, encoding="utf-8")]
    encode = {"tiktoken": tiktoken_encode, "tokenizers": tokenizers_encode}[peer](path)
    n_bytes = n_tokens = check = 0
    seconds = 0.0
    while True:
        for text in texts:
            begin = time.perf_counter()
            ids = encode(text)
            seconds += time.perf_counter() - begin
            n_bytes += len(text.encode())
            n_tokens += len(ids)
            for i in ids:
                check = (check * 1000003 + i) & 0xFFFFFFFFFFFFFFFF
        if n_bytes >= least_bytes:
            break
    print(json.dumps(dict(bytes=n_bytes, tokens=n_tokens, check=check, seconds=seconds)))


main()
