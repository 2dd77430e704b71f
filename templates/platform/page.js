const at = (id) => document.getElementById(id);
const el = (name, text, cls) => {
  const e = document.createElement(name);
  e.textContent = text;
  if (cls) e.className = cls;
  return e;
};
const tone = (s) =>
  s === "RUNNING" || s === "READY" ? "good" : s === "FAILED" ? "bad" : s === "STOPPED" ? "" : "wait";
const clock = (iso) => {
  const t = el("time", new Date(iso).toLocaleTimeString());
  t.dateTime = iso;
  return t;
};
const show = (s) => {
  at("engine").textContent =
    "Engine: " + s.engine.name + " " + s.engine.version + " (" + s.engine.why + ") in " + s.dataDir;
  at("count").textContent = "(" + s.instances.length + ")";
  at("none").hidden = s.instances.length > 0;
  at("instances").replaceChildren(
    ...s.instances.map((i) => {
      const row = document.createElement("tr");
      const status = el("td", i.status, "status " + tone(i.status));
      if (i.failure) status.title = i.failure;
      const changed = document.createElement("td");
      changed.append(clock(i.lastModified));
      row.append(
        status,
        el("td", i.name),
        el("td", i.id, "mono"),
        el("td", i.tier + " / " + i.component),
        el("td", i.cloudProvider + " " + i.region),
        el("td", i.endpoint, "mono"),
        changed,
      );
      return row;
    }),
  );
  at("events").replaceChildren(
    ...s.events.map((e) => {
      const li = el("li", "", e.isFailure ? "bad" : "");
      li.append(clock(e.time), el("span", e.instanceId + " ", "mono"), el("span", e.message));
      return li;
    }),
  );
};
const stream = new EventSource("/_platform/stream");
stream.onmessage = (m) => {
  at("live").textContent = "live";
  at("live").className = "good";
  show(JSON.parse(m.data));
};
stream.onerror = () => {
  const isOver = stream.readyState === EventSource.CLOSED;
  at("live").textContent = isOver
    ? "signed out; graphform platform open signs in again"
    : "connection lost, trying again";
  at("live").className = isOver ? "bad" : "wait";
};
