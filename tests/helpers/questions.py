"""The questions of CogniLoad's puzzles and what each asks for, written apart from the engine."""

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
