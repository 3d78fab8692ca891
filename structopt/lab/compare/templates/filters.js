
const body = document.getElementById("attempts");
const boxes = [...document.querySelectorAll("select[data-column]")];
const counted = document.getElementById("counted");
const show = () => {
  let shown = 0;
  for (const row of body.rows) {
    const fits = boxes.every((box) => !box.value ||
      row.cells[Number(box.dataset.column)].textContent === box.value);
    row.hidden = !fits;
    shown += fits;
  }
  counted.textContent = `${shown} of ${body.rows.length} attempts`;
};
boxes.forEach((box) => box.addEventListener("change", show));
show();
