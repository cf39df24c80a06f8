"""The explorer as a Hugging Face Space."""

from cogniload_gen.explorer.page import build

build().launch()
