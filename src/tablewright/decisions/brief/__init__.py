"""How a research question is read without a model: what it lists, with which columns, or from which sides."""
