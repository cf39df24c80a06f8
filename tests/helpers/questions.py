"""CogniLoad's questions, what each asks for, and its clauses, written apart from the engine."""

QUESTIONS = {
    "What color of socks is {} wearing?": "clothes_socks",
    "What color shirt is {} wearing?": "clothes_shirt",
    "What color pants is {} wearing?": "clothes_pant",
    "What color pant is {} wearing?": "clothes_pant",
    "What color hat is {} wearing?": "clothes_hat",
    "What color of gloves is {} wearing?": "clothes_gloves",
    "What color of underwear is {} wearing?": "clothes_underwear",
    "What is the final hair color of {}?": "hair",
    "What did {} most recently eat?": "recent_eat",
    "What kind of music did {} most recently listen to?": "recent_listen",
    "What kind of movie did {} most recently watch?": "recent_watch",
    "What did {} most recently read?": "recent_read",
    "What kind of book did {} most recently read?": "recent_read",
    "Where is {}?": "location",
}
RELEASED = {category: question for question, category in QUESTIONS.items()}
"""The last question of a category is that of the authors' release."""

CLAUSES = [
    # category, initial state, condition, update
    ("clothes_socks", "is wearing {} socks", "wearing {} socks", "put on {} socks"),
    ("clothes_shirt", "is wearing a {} shirt", "wearing a {} shirt", "put on a {} shirt"),
    ("clothes_shirt", "is wearing a {} shirt", "wearing a {} shirt", "change into a {} shirt"),
    ("clothes_shirt", "is wearing an {} shirt", "wearing an {} shirt", "change to an {} shirt"),
    ("clothes_pant", "is wearing {} pants", "wearing {} pants", "put on {} pants"),
    ("clothes_pant", "is wearing a {} pant", "who are wearing a {} pant", "change into a {} pant"),
    ("clothes_hat", "is wearing an {} hat", "wearing an {} hat", "put on an {} hat"),
    ("clothes_gloves", "is wearing {} gloves", "wearing {} gloves", "put on {} gloves"),
    ("clothes_underwear", "is wearing {} underwear", "wearing {} underwear", "put on {} underwear"),
    ("hair", "has {} hair", "having {} hair", "dye their hair {}"),
    ("hair", "has {} hair", "having {} hair", "change their hair color to {}"),
    ("recent_eat", "most recently ate {}", "who most recently ate {}", "eat {}"),
    ("recent_eat", "most recently ate a {}", "which most recently ate a {}", "eat a {}"),
    ("recent_listen", "last listened to {} music", "who last listened to {} music",
     "listen to {} music"),
    ("recent_listen", "last listened to {}", "which last listened to {}", "listen to {}"),
    ("recent_watch", "last watched a {} movie", "who last watched a {} movie", "watch a {} movie"),
    ("recent_read", "last read {}", "who last read {}", "read {}"),
    ("recent_read", "last read a {} book", "which last read a {} book", "read a {} book"),
    ("location", "is located in the {}", "located in the {}", "move to the {}"),
    ("location", "is in the {}", "who are in the {}", "go to the {}"),
]  # fmt: skip
