"""The card that `trialdeck card new` writes."""

TEMPLATE = """\
# A run card: what is measured and how, said before it is measured. Paths are relative to this file.
# `trialdeck card check FILE` reads it, `trialdeck card freeze FILE` pins it, `trialdeck run FILE` runs it.

name = "my comparison"

# "controlled model": only the model differs between the arms; "product": each side as it is shipped.
question = "controlled model"
hypothesis = ""
primary_metric = "resolved"

# When a trial counts as passed: a reward, one of == >= >, and a number. Never changed after the fact.
acceptance = "reward == 1"

attempts = 1
seed = 1                 # of the interleaved order
timeout_factor = 1.0
allow_host_env = []      # variables of this host that tasks may get

[task_set]
paths = ["tasks"]
include = []             # globs over task ids; empty: all
version = ""             # a commit that the tasks have to be at; empty: whatever it is, recorded
digest = ""

# [[task_set.exclusions]]
# task = "broken-task"
# reason = "its image can no longer be built"

# The first arm is the baseline of a comparison.
[[arms]]
name = "baseline"
agent = "oracle"

[[arms]]
name = "candidate"
agent = "nop"
# model = ""
# provider = ""
# effort = ""
# tools = []
# mcp = []
# skills = []
# prompt = "prompt.md"   # its digest is pinned
# parameters = { }       # what its agent takes (`trialdeck agents NAME`)
#
# Of an agent that calls a model, beside model and effort:
# protocol = "anthropic"              # openai-chat, openai-responses or anthropic; else the agent's first
# temperature = 0.7
# context_tokens = 200000
# max_output_tokens = 32000
# Where the model is reached is not part of what is measured; a key itself never stands here:
# base_url = "http://127.0.0.1:8000/v1"
# key_env = "MODEL_API_KEY"           # or key_file = "~/keys/model"
# headers = { X-Team = "evals" }      # a value may be "${VAR}"

# Which trials `trialdeck rerun` may run again once people have decided their cause; the same for every arm.
[retries]
causes = ["infrastructure", "provider"]
most = 1
redo_verdicts = []       # causes for which even a verdict is redone

# Tasks that were looked at while the arms were made ready, and tasks that nobody looked at.
[split]
pilot = []
held_out = []

# How it is carried out: not part of what is measured, may change while it runs, each change is recorded.
[conduct]
concurrency = 4
# max_cost_usd = 100.0
keep = "never"
"""
