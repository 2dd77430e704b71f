import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GraphformError } from "../../../src/model/errors.ts";
import { failureHtml } from "../../../src/report/html/report-html.ts";
import { openBrowser } from "../../support/browser.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { whole } from "../drift-parts.ts";
import { goldenPlans } from "../golden-plans.ts";
import { plan } from "../plan-parts.ts";
import { driftHtml } from "../rendered.ts";
import { words } from "../words.ts";
import { assets, connectedPlan, hostilePlan, largePlan, pageOf } from "./pages.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const earlier = { plan: goldenPlans["106-gone-failed-waiting-drifted"] ?? plan({}), file: "yesterday.plan" };
const pages: { readonly [name: string]: string } = {
  nothing: pageOf(goldenPlans["101-nothing-to-do"] ?? plan({})),
  badDay: pageOf(connectedPlan, { planFile: "shop.plan", earlier }),
  adopting: pageOf(goldenPlans["104-adopt-move-incomplete"] ?? plan({})),
  drifted: pageOf(goldenPlans["106-gone-failed-waiting-drifted"] ?? plan({})),
  hostile: pageOf(hostilePlan, { earlier }),
  large: pageOf(largePlan),
  outside: driftHtml(whole, words, assets),
  failed: failureHtml(new GraphformError("x", "the service is not there"), assets, "plan"),
};
const looks: { readonly [look: string]: BrowserContextOptions & { readonly print?: boolean } } = {
  light: { colorScheme: "light" },
  dark: { colorScheme: "dark" },
  narrow: { viewport: { width: 400, height: 800 } },
  print: { viewport: { width: 750, height: 1000 }, colorScheme: "dark", print: true },
};

describe("pages in a browser", () => {
  let dir = "";
  let browser: Browser;

  beforeAll(async () => {
    dir = temporaryFolder("pages");
    for (const [name, text] of Object.entries(pages)) await writeFile(join(dir, `${name}.html`), text);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser.close();
  });

  /** Opens a page, and hands it over with everything that it complained of or asked the network for. */
  async function open(name: string, { print, ...options }: (typeof looks)[string] = {}, hash = "") {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const trouble: string[] = [];
    page.on("console", (message) => trouble.push(message.text()));
    page.on("pageerror", (error) => trouble.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().startsWith("file:")) trouble.push(request.url());
    });
    await page.goto(pathToFileURL(join(dir, `${name}.html`)).href + hash);
    if (print === true) await page.emulateMedia({ media: "print" });
    return { page, trouble, close: () => context.close() };
  }

  // The large page has nothing that the others have not, and axe takes a minute for it.
  const names = Object.keys(pages).filter((name) => name !== "large");
  // A page that is narrow or printed has the same elements: one is enough for each.
  const everyLook = Object.keys(looks).flatMap((look) =>
    (look === "light" || look === "dark" ? names : ["badDay"]).map((name) => [name, look] as const),
  );

  it.each(everyLook)(
    "%s, %s: axe finds nothing, nothing is wider than the page, nothing is loaded",
    async (name, look) => {
      const { page, trouble, close } = await open(name, looks[look]);
      expect(await violations(page)).toEqual([]);
      expect(
        await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
      ).toBe(0);
      expect(trouble).toEqual([]);
      expect(await page.evaluate("window.broken")).toBeUndefined();
      await keepPicture(page, `${name}-${look}`);
      await close();
    },
  );

  it("is whole without scripts: every change is there and opens, and no filter is offered", async () => {
    const { page, close } = await open("badDay", { javaScriptEnabled: false });
    expect(await page.locator("form.filters").isVisible()).toBe(false);
    expect(await page.locator("h1").isVisible()).toBe(true);
    expect(await page.locator("details.block").count()).toBe(9);
    const created = page.locator("details.block", { hasText: 'instances.cache["eu-west-1"]' });
    await created.locator("summary").first().click();
    expect(await created.locator(".body").isVisible()).toBe(true);
    await close();
  });

  it("prints what is folded", async () => {
    const { page, close } = await open("badDay", { javaScriptEnabled: false, print: true });
    expect(await page.locator("details.block .body").first().isVisible()).toBe(true);
    const heights = await page
      .locator("details.block > .body")
      .evaluateAll((all) => all.map((one) => one.clientHeight));
    expect(Math.min(...heights)).toBeGreaterThan(0);
    await close();
  });

  it("has verdict and next command above the fold of a small screen", async () => {
    const { page, close } = await open("badDay", { viewport: { width: 400, height: 640 } });
    const box = await page.locator(".next code").boundingBox();
    expect(box === null ? Number.POSITIVE_INFINITY : box.y + box.height).toBeLessThan(640);
    await close();
  });

  it("keeps filters in the URL, and reads them from it", async () => {
    const { page, trouble, close } = await open("badDay");
    await page.locator("select[name=action]").selectOption("create");
    expect(new URL(page.url()).hash).toBe("#action=create");
    expect(await page.locator("details.block:visible").count()).toBe(2);
    expect(await page.locator("form.filters [role=status]").textContent()).toBe("2 of 9 shown");
    expect(await page.locator(".group:visible").count()).toBe(2);
    await close();
    const again = await open("badDay", {}, "#action=create&blocked=yes&text=READER");
    expect(await again.page.locator("details.block:visible").count()).toBe(1);
    expect(await again.page.locator("input[name=text]").inputValue()).toBe("READER");
    expect([...trouble, ...again.trouble]).toEqual([]);
    await again.close();
  });

  it("filters drift in the same way", async () => {
    const { page, trouble, close } = await open("outside", {}, "#action=deleted");
    const all = await page.locator("details.block").count();
    const deleted = page.locator("details.block[data-action=deleted]");
    expect(await page.locator("details.block:visible").count()).toBe(await deleted.count());
    expect(await deleted.count()).toBeLessThan(all);
    await page.locator("select[name=action]").selectOption("");
    expect(await page.locator("details.block:visible").count()).toBe(all);
    expect(trouble).toEqual([]);
    await close();
  });

  it("is used with the keyboard: the first stop skips to the content, a title opens its change", async () => {
    const { page, close } = await open("badDay");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    const block = page.locator("#change-5");
    await block.locator("summary").first().focus();
    const before = await block.getAttribute("open");
    await page.keyboard.press("Enter");
    expect(await block.getAttribute("open")).not.toBe(before);
    await close();
  });

  it("lays out of five hundred changes only what is not folded", async () => {
    const { page, close } = await open("large");
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const { metrics } = await session.send("Performance.getMetrics");
    const count = (name: string): number => metrics.find((each) => each.name === name)?.value ?? 0;
    expect(await page.locator("details.block").count()).toBe(501);
    expect(count("Nodes")).toBeGreaterThan(20_000);
    expect(count("LayoutObjects")).toBeLessThan(5000);
    await close();
  });
});

async function violations(page: Page): Promise<readonly string[]> {
  // Evaluated and not added: the page's policy refuses a script that is not its own.
  await page.evaluate(axe);
  const results: AxeResults = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ""}`),
  );
}

/** Keeps a screenshot where `GRAPHFORM_PICTURES` names a folder. */
async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env["GRAPHFORM_PICTURES"];
  if (folder === undefined) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
