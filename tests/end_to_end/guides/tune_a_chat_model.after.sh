# What was given away is a model as the one that it was made of, with all that lies beside it.
cmp models/base/chat_template.jinja models/my_chat/chat_template.jinja
cmp models/base/tokenizer.json models/my_chat/tokenizer.json
build/cpu/my_chat import models/my_chat --output runs/again
build/cpu/my_chat evaluate --checkpoint runs/again --data runs/chats/held_out.pbin
build/cpu/my_chat_lora import models/base --adapter models/my_chat_adapter --output runs/beside
build/cpu/my_chat_lora evaluate --checkpoint runs/beside --data runs/chats/held_out.pbin
