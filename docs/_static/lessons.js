// A slider over the pictures of a lesson; without this script they stand below one another.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll(".lesson-choice").forEach((choice, number) => {
    const positions = Array.from(choice.querySelectorAll(":scope > .lesson-position"));
    if (positions.length < 2) return;
    const start = positions.findIndex((p) => p.dataset.value === choice.dataset.start);
    const control = document.createElement("p");
    control.className = "lesson-control";
    const label = document.createElement("label");
    const input = document.createElement("input");
    const shown = document.createElement("output");
    input.type = "range";
    input.min = 0;
    input.max = positions.length - 1;
    input.value = Math.max(start, 0);
    input.id = `lesson-choice-${number}`;
    label.htmlFor = input.id;
    label.textContent = choice.dataset.label;
    control.append(label, input, shown);
    const show = () => {
      positions.forEach((p, k) => { p.hidden = k !== Number(input.value); });
      shown.textContent = positions[Number(input.value)].dataset.value;
      input.setAttribute("aria-valuetext", shown.textContent);
    };
    input.addEventListener("input", show);
    choice.prepend(control);
    choice.classList.add("moving");
    show();
  });
});
