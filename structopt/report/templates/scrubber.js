
document.querySelectorAll(".scrubber").forEach((box) => {
  const slider = box.querySelector("input"), output = box.querySelector("output");
  const charts = document.querySelectorAll(`figure[data-marker="${box.id}"]`);
  const runs = [...box.querySelectorAll("[data-rounds]")].map((live) => ({
    cells: live.rows[0].cells,
    rounds: [...document.getElementById(live.dataset.rounds).rows],
  }));
  const value = (cell) => Number(cell.querySelector("data").value);
  const show = () => {
    const round = Number(slider.value);
    let seconds = 0;
    for (const run of runs) {
      const row = run.rounds.findLast((r) => value(r.cells[0]) <= round) || run.rounds[0];
      const skipped = run.cells.length - row.cells.length;
      [...row.cells].forEach((cell, j) => run.cells[j + skipped].replaceChildren(
        ...[...cell.childNodes].map((node) => node.cloneNode(true))));
      seconds = value(row.cells[1]);
    }
    for (const chart of charts) {
      const marker = chart.querySelector("[id$=-marker]");
      // the marker is drawn at the right end of the axis, and moved from there
      const [low, high, width] = chart.dataset.scale.split(" ").map(Number);
      const at = chart.dataset.axis === "seconds" ? seconds : round;
      marker.setAttribute("transform", `translate(${(at - high) / (high - low) * width} 0)`);
      marker.style.visibility = "visible";
    }
    output.textContent = `${round} of ${slider.max}`;
    slider.setAttribute("aria-valuetext", `round ${round} of ${slider.max}`);
  };
  slider.addEventListener("input", show);
  box.querySelector(".control").hidden = false;
  show();
});
