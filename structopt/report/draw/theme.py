"""The look of a report: one style sheet, light and dark.

Series colours are those of M. Okabe and K. Ito, "Color Universal Design" (2008), which colour-blind
readers can tell apart; the dark theme lightens the ones that would sink into the background.

>>> "prefers-color-scheme: dark" in STYLE
True
"""

from __future__ import annotations

OKABE_ITO = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666")
OKABE_ITO_DARK = ("#4ea8de", "#ff8c42", "#2fc99b", "#e39cc4", "#f0b93a", "#9ad4f5", "#b0b0b0")


def _palette(colours: tuple[str, ...]) -> str:
    return " ".join(f"--s{i}: {colour};" for i, colour in enumerate(colours))


STYLE = f"""
:root {{
  color-scheme: light dark;
  --page: #ffffff; --card: #f6f7f9; --text: #1b1f24; --soft: #57606a; --line: #d5dae0;
  --good: #0b6b4f; --good-page: #e3f4ee; --warn: #8a4500; --warn-page: #fdf0e1;
  {_palette(OKABE_ITO)}
}}
@media (prefers-color-scheme: dark) {{
  :root {{
    --page: #14171b; --card: #1d2126; --text: #e6e9ed; --soft: #a2abb5; --line: #363d45;
    --good: #6fdcb8; --good-page: #14332a; --warn: #ffbb7d; --warn-page: #3a2714;
    {_palette(OKABE_ITO_DARK)}
  }}
}}
* {{ box-sizing: border-box; }}
body {{
  margin: 0 auto; padding: 1.5rem; max-width: 76rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
}}
h1 {{ font-size: 1.6rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.15rem; margin: 2rem 0 .6rem; }}
p {{ margin: .4rem 0; max-width: 46rem; }}
.soft {{ color: var(--soft); }}
.verdict {{ padding: .7rem 1rem; border-radius: .5rem; max-width: none; overflow-wrap: anywhere; }}
.good {{ background: var(--good-page); color: var(--good); }}
.warn {{ background: var(--warn-page); color: var(--warn); }}
dl.facts {{
  display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .6rem; margin: 0;
}}
dl.facts > div {{ background: var(--card); border-radius: .5rem; padding: .5rem .8rem; }}
dt {{ color: var(--soft); font-size: .8rem; }}
dd {{ margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }}
.charts {{
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1rem;
}}
figure {{ margin: 0; background: var(--card); border-radius: .5rem; padding: .8rem; }}
figcaption {{ font-size: .85rem; color: var(--soft); }}
svg {{ display: block; width: 100%; height: auto; max-width: 40rem; }}
svg text {{ fill: var(--soft); font: 12px system-ui, sans-serif; }}
svg .axis {{ stroke: var(--line); stroke-width: 1; }}
svg .strong {{ fill: var(--text); }}
svg .line {{ fill: none; stroke-width: 2; stroke-linejoin: round; }}
svg .dashed {{ stroke-dasharray: 6 4; }}
svg .limit {{ stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 3; }}
svg .marker {{ stroke: var(--text); stroke-width: 1.5; stroke-dasharray: 3 2; }}
svg .band {{ opacity: .15; stroke: none; }}
.key {{ display: flex; flex-wrap: wrap; gap: .2rem 1rem; list-style: none; margin: .3rem 0 0;
  padding: 0; font-size: .85rem; overflow-wrap: anywhere; }}
.key svg {{ display: inline-block; width: 26px; height: 12px; vertical-align: middle; }}
.scroll {{ overflow: auto; max-height: 32rem; border: 1px solid var(--line);
  border-radius: .5rem; }}
.scroll:focus-visible {{ outline: 2px solid var(--s0); outline-offset: 2px; }}
dl + .scroll, .charts + dl, .scrubber + *, .scroll + .scroll {{ margin-top: 1rem; }}
.control {{ display: flex; flex-wrap: wrap; align-items: center; gap: .6rem; }}
.control[hidden] {{ display: none; }}
.control input {{ flex: 1 1 14rem; min-width: 8rem; accent-color: var(--s0); height: 1.5rem; }}
.control input:focus-visible, summary:focus-visible {{ outline: 2px solid var(--s0);
  outline-offset: 2px; }}
output {{ font-variant-numeric: tabular-nums; min-width: 6rem; }}
details {{ margin: .5rem 0 1rem; }}
summary {{ cursor: pointer; font-weight: 600; padding: .3rem 0; }}
h3 {{ font-size: 1rem; margin: 1.2rem 0 .4rem; }}
code {{ font-size: .9em; overflow-wrap: anywhere; }}
mark {{ background: var(--warn-page); color: var(--warn); font-weight: 700;
  text-decoration: underline wavy; padding: 0 .15em; }}
table {{ border-collapse: collapse; width: 100%; font-size: .85rem; }}
caption {{ text-align: left; color: var(--soft); padding: .5rem .55rem; }}
th, td {{ padding: .3rem .55rem; text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; border-top: 1px solid var(--line); }}
thead th {{ position: sticky; top: 0; background: var(--card); border-top: 0;
  white-space: normal; vertical-align: bottom; }}
.name {{ text-align: left; white-space: normal; overflow-wrap: break-word; min-width: 5.5rem; }}
tbody th {{ font-weight: 600; }}
td .bar {{ display: inline-block; height: .6rem; vertical-align: middle; border-radius: 2px; }}
footer {{ margin-top: 2rem; color: var(--soft); font-size: .85rem; }}
""" + "".join(
    f".s{i} {{ stroke: var(--s{i}); }} .f{i} {{ fill: var(--s{i}); background: var(--s{i}); }}\n"
    for i in range(len(OKABE_ITO))
)
