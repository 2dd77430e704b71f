"use strict";
(() => {
  const form = document.querySelector("form.filters");
  const blocks = [...document.querySelectorAll("details.block")];
  const groups = [...document.querySelectorAll(".group")];
  const reveal = () => {
    const target = location.hash.includes("=") ? null : document.getElementById(location.hash.slice(1));
    const block = target === null ? null : target.closest("details");
    if (block === null) return;
    block.open = true;
    block.scrollIntoView();
  };
  const matches = (block, wanted) => {
    for (const [name, value] of wanted) {
      if (
        name === "text"
          ? !block.textContent.toLowerCase().includes(value.toLowerCase())
          : block.dataset[name] !== value
      )
        return false;
    }
    return true;
  };
  const filter = (wanted) => {
    let shown = 0;
    let all = 0;
    for (const block of blocks) {
      const count = Number(block.dataset.count);
      block.hidden = !matches(block, wanted);
      all += count;
      if (!block.hidden) shown += count;
    }
    for (const group of groups) group.hidden = group.querySelector("details.block:not([hidden])") === null;
    form.querySelector("[role=status]").textContent = shown === all ? "" : shown + " of " + all + " shown";
  };
  const known = () => [...form.elements].filter((field) => field.name !== "");
  const fromPage = () => {
    const wanted = new URLSearchParams();
    for (const field of known()) {
      if (field.type === "checkbox" ? field.checked : field.value !== "") wanted.set(field.name, field.value);
    }
    return wanted;
  };
  const fromUrl = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const field of known()) {
      const value = given.get(field.name) ?? "";
      if (field.type === "checkbox") field.checked = value === field.value;
      else field.value = value;
    }
    filter(fromPage());
    reveal();
  };
  if (form !== null) {
    form.hidden = false;
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => {
      const wanted = fromPage();
      history.replaceState(null, "", "#" + wanted);
      filter(wanted);
    });
    form.addEventListener("click", (event) => {
      const all = event.target.dataset.fold;
      if (all !== undefined) for (const block of blocks) block.open = all === "open";
    });
    addEventListener("hashchange", fromUrl);
    fromUrl();
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const closed of opened) closed.open = true;
  });
  addEventListener("afterprint", () => {
    for (const closed of opened) closed.open = false;
  });
})();
