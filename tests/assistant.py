"""A large model as somebody's assistant, with the tools of our MCP server and nothing else."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx2

from tablewright.store import records
from tests.interfaces.mcp.talking import within
from tests.recorded import TOOLS_BY_NAME

# Answers to one message.
MOST_STEPS = 12
PATIENCE = 1_800.0


def timeless(text: str) -> str:
    """Without what differs each time: when something was, and how long it took."""
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "2026-11-17T12:00:00Z", text)
    return re.sub(r'"seconds":[\d.]+', '"seconds":1.0', text)


async def assist(url: str, folder: Path, *messages: str) -> Any:
    """Whatever the person says, one message after the other: what the assistant called, what it said, and the table in
    the end. Ids are the same each time, for the model quotes them."""
    chosen = random.Random(0)
    with patch.object(records.secrets, "choice", chosen.choice):
        async with within(folder, concurrency="1", attempts="1") as talk, httpx2.AsyncClient(timeout=PATIENCE) as http:
            listed = (await talk.client.list_tools()).tools
            tools = [
                {
                    "type": "function",
                    "function": {"name": each.name, "description": each.description, "parameters": each.input_schema},
                }
                for each in listed
            ]
            said: list[dict[str, Any]] = [{"role": "system", "content": talk.client.instructions}]
            calls: list[str] = []
            answers: list[str] = []
            for message in messages:
                said.append({"role": "user", "content": message})
                for _ in range(MOST_STEPS):
                    asked = {"model": "recorded", "messages": said, "tools": tools, "metadata": TOOLS_BY_NAME}
                    reply = (await http.post(f"{url}/chat/completions", json=asked)).raise_for_status().json()
                    answer = reply["choices"][0]["message"]
                    said.append(answer)
                    if not answer.get("tool_calls"):
                        answers.append(answer["content"])
                        break
                    for call in answer["tool_calls"]:
                        name, given = call["function"]["name"], json.loads(call["function"]["arguments"])
                        result = await talk.client.call_tool(name, given)
                        calls.append(f"{name}{' refused' if result.is_error else ''}")
                        (text,) = result.content
                        said.append({"role": "tool", "tool_call_id": call["id"], "content": timeless(text.text)})
            tables = (await talk("list_all", what="tables"))["tables"]
            shown = await talk("show_table", table=tables[0]["id"])
    return {"calls": calls, "answers": answers, "columns": shown["columns"], "rows": shown["rows"]}
