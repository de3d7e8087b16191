"""What each provider documents that it answers, cut to what matters, with the noise that stands around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tablewright.web.search.http import SearXNG
from tablewright.web.search.keyed_providers import Brave, Exa, Serper, Tavily

Result = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    provider: Any
    answer: Callable[[list[Any]], Any]
    """The whole answer around a list of results."""
    result: Callable[[Any, Any, Any, Any], Result]
    """One result with this URL, title, snippet and date."""
    empty: Any
    error: Callable[[str], Any]
    """An error with this message."""

    @property
    def name(self) -> str:
        return str(self.provider.name)


SHAPES = [
    Shape(
        provider=SearXNG,
        answer=lambda results: {
            "query": "acme",
            "number_of_results": 0,
            "results": results,
            "answers": [],
            "infoboxes": [],
            "suggestions": ["acme inc"],
            "unresponsive_engines": [],
        },
        result=lambda url, title, snippet, date: {
            "url": url,
            "title": title,
            "content": snippet,
            "publishedDate": date,
            "engine": "duckduckgo",
            "engines": ["duckduckgo", "brave"],
            "positions": [1, 2],
            "score": 1.5,
            "category": "general",
        },
        empty={"query": "acme", "number_of_results": 0, "results": [], "unresponsive_engines": []},
        error=lambda message: {"error": message},
    ),
    Shape(
        provider=Brave,
        answer=lambda results: {
            "type": "search",
            "query": {"original": "acme", "more_results_available": True},
            "mixed": {"type": "mixed", "main": []},
            "web": {"type": "search", "results": results, "family_friendly": True},
        },
        result=lambda url, title, snippet, date: {
            "type": "search_result",
            "url": url,
            "title": title,
            "description": snippet,
            "page_age": date,
            "age": "3 days ago",
            "profile": {"name": "Acme"},
            "language": "en",
        },
        empty={"type": "search", "query": {"original": "acme", "more_results_available": False}},
        error=lambda message: {"type": "ErrorResponse", "error": {"code": "X", "detail": message, "status": 400}},
    ),
    Shape(
        provider=Tavily,
        answer=lambda results: {
            "query": "acme",
            "answer": None,
            "images": [],
            "results": results,
            "response_time": 0.8,
            "request_id": "1",
        },
        result=lambda url, title, snippet, date: {
            "url": url,
            "title": title,
            "content": snippet,
            "published_date": date,
            "score": 0.9,
            "raw_content": None,
        },
        empty={"query": "acme", "answer": None, "images": [], "results": [], "response_time": 0.3},
        error=lambda message: {"detail": {"error": message}},
    ),
    Shape(
        provider=Serper,
        answer=lambda results: {
            "searchParameters": {"q": "acme", "type": "search", "engine": "google"},
            "knowledgeGraph": {"title": "Acme"},
            "organic": results,
            "peopleAlsoAsk": [],
            "credits": 1,
        },
        result=lambda url, title, snippet, date: {
            "link": url,
            "title": title,
            "snippet": snippet,
            "date": date,
            "position": 1,
            "sitelinks": [{"title": "About", "link": "https://acme.example/about"}],
        },
        empty={"searchParameters": {"q": "acme", "type": "search"}, "organic": [], "credits": 1},
        error=lambda message: {"message": message, "statusCode": 400},
    ),
    Shape(
        provider=Exa,
        answer=lambda results: {
            "requestId": "1",
            "resolvedSearchType": "neural",
            "results": results,
            "costDollars": {"total": 0.005},
        },
        result=lambda url, title, snippet, date: {
            "id": url,
            "url": url,
            "title": title,
            "publishedDate": date,
            "author": "A. Author",
            "highlights": [snippet],
            "highlightScores": [0.4],
        },
        empty={"requestId": "1", "results": []},
        error=lambda message: {"requestId": "1", "error": message, "tag": "INVALID_REQUEST"},
    ),
]
