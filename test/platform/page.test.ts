import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pro, startTest, type TestPlatform } from "./harness.ts";

let test: TestPlatform;
beforeAll(async () => {
  test = await startTest();
});
afterAll(() => test.close());

const get = (path: string, cookie = "") =>
  fetch(new URL(path, test.platform.url), { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
const login = (fields: { readonly [name: string]: string }) =>
  fetch(new URL("/_platform/page-session", test.platform.url), {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams(fields),
  });
const cookieOf = (response: Response): string => response.headers.getSetCookie()[0]?.split(";")[0] ?? "";

describe("the page at /", () => {
  it("shows a stranger a form and nothing of the instances, even on loopback", async () => {
    const id = await test.create(pro, { name: "hidden-name" });
    const response = await get("/");
    const html = await response.text();
    expect(html).toContain("<form");
    for (const secret of [id, "hidden-name", test.password, "EventSource"])
      expect(html).not.toContain(secret);
    expect((await get("/_platform/stream")).status).toBe(401);
    expect((await get("/_platform/status")).status).toBe(400);
  });

  it("loads nothing from elsewhere and forbids it", async () => {
    const response = await get("/");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(await response.text()).not.toMatch(/(src|href)="http/);
  });

  it("opens with the link that works once", async () => {
    const first = await get(test.platform.pageUrl);
    expect([first.status, first.headers.get("location")]).toEqual([303, "/"]);
    const cookie = cookieOf(first);
    expect(first.headers.getSetCookie()[0]).toMatch(/HttpOnly; SameSite=Lax/);
    expect(await (await get("/", cookie)).text()).toContain("EventSource");
    const second = await get(test.platform.pageUrl);
    expect([second.status, second.headers.getSetCookie()]).toEqual([200, []]);
  });

  it("opens with the credentials, and only with them", async () => {
    const wrong = await login({ username: test.username, password: "<b>wrong</b>" });
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([401, []]);
    const right = await login({ username: test.username, password: test.password });
    expect(await (await get("/", cookieOf(right))).text()).toContain("EventSource");
  });

  it("streams the state as it changes, without parameters", async () => {
    const cookie = cookieOf(await login({ username: test.username, password: test.password }));
    const response = await get("/_platform/stream", cookie);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const id = await test.create(pro, { name: "<script>alert(1)</script>", graphdbPassword: "never-shown" });
    let text = "";
    while (!new RegExp(`"id":"${id}","name":"<script>alert\\(1\\)</script>","status":"RUNNING"`).test(text)) {
      const { value, done } = (await reader?.read()) ?? { done: true };
      expect(done).toBe(false);
      text += value ?? "";
    }
    await reader?.cancel();
    expect(text).not.toContain("never-shown");
  });

  it("puts what it is told into the page as text", async () => {
    const cookie = cookieOf(await login({ username: test.username, password: test.password }));
    const html = await (await get("/", cookie)).text();
    const [, script = ""] = /<script nonce="[^"]+">([\s\S]*)<\/script>/.exec(html) ?? [];
    const page = fakePage();
    runInNewContext(script, page.globals);
    const { body } = await test.call("GET", "/_platform/status");
    page.globals.EventSource.latest?.onmessage?.({ data: JSON.stringify(body) });
    expect(page.text("instances")).toContain("<script>alert(1)</script>");
    expect(page.text("instances")).toContain("pro / standalone");
    expect(page.text("events")).toContain("create done: RUNNING");
    expect(page.text("engine")).toContain("Engine: none");
  });
});

/** As much of a document as the script uses: elements that know only text and children. */
function fakePage() {
  class Element {
    textContent = "";
    hidden = false;
    className = "";
    children: Element[] = [];
    append(...more: Element[]): void {
      this.children.push(...more);
    }
    replaceChildren(...all: Element[]): void {
      this.children = all;
    }
    text(): string {
      return [this.textContent, ...this.children.map((child) => child.text())].join("|");
    }
  }
  class EventSource {
    static latest: EventSource | undefined;
    onmessage: ((message: { data: string }) => void) | undefined;
    constructor() {
      EventSource.latest = this;
    }
  }
  const byId = new Map<string, Element>();
  const getElementById = (id: string): Element => {
    const known = byId.get(id) ?? new Element();
    byId.set(id, known);
    return known;
  };
  return {
    globals: { document: { getElementById, createElement: () => new Element() }, EventSource },
    text: (id: string) => byId.get(id)?.text() ?? "",
  };
}
