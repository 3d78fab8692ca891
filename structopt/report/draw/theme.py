"""The colours of series, light and dark.

Series colours are those of M. Okabe and K. Ito, "Color Universal Design" (2008), which colour-blind
readers can tell apart; the dark theme lightens the ones that would sink into the background.

>>> len(OKABE_ITO) == len(OKABE_ITO_DARK)
True
"""

from __future__ import annotations

OKABE_ITO = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#666666")
OKABE_ITO_DARK = ("#4ea8de", "#ff8c42", "#2fc99b", "#e39cc4", "#f0b93a", "#9ad4f5", "#b0b0b0")
