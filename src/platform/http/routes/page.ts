/** @module Serves the platform's page with every value escaped, its sign-in and its event stream. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { html, raw } from "hono/html";
import { streamSSE } from "hono/streaming";
import { packageFile } from "../../../files/package-file.ts";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { maxOpenBody, openBody } from "../contract.ts";
import { platformStatus } from "../describe.ts";
import type { Env } from "../exchange.ts";
import { matchesCredentials } from "./session.ts";

/** Minimum time between two updates of the page, in ms. */
const pause = 200;

/**
 * Registers the page at `/`. It needs a session even on loopback, where other users of the machine, and web pages by DNS
 * rebinding, could read it; a one-time link or the form opens one, for the page and its stream only.
 */
export function pageEndpoints(app: Hono<Env>, core: Core): void {
  const isOpen = (context: Context<Env>): boolean =>
    core.page.sessions.has(getCookie(context, cookieName(context)) ?? "");

  app.get("/", (context) => {
    const key = context.req.query("key");
    if (key !== undefined && core.page.keys.take(key)) return openPage(core, context);
    const hint = key === undefined ? "" : "That link was used already, or is older than a minute.";
    return answer(isOpen(context) ? statusPage : () => signInPage(hint));
  });

  app.post("/_platform/page-session", async (context) => {
    const reader = openBody(context.req.raw, maxOpenBody, core.bodyBudgets.anonymous);
    try {
      const form = new URLSearchParams(await reader.read());
      const given = { username: form.get("username") ?? "", password: form.get("password") ?? "" };
      if (matchesCredentials(core.credentials, given)) return openPage(core, context);
      return answer(() => signInPage("Wrong user name or password."), 401);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return answer(() => signInPage(error.message), error.status);
    } finally {
      reader.release();
    }
  });

  app.get("/_platform/stream", (context) => {
    if (!isOpen(context)) return new Response(null, { status: 401 });
    return streamSSE(context, async (stream) => {
      let changed = Promise.withResolvers<void>();
      const stop = core.events.subscribe(() => changed.resolve());
      stream.onAbort(() => {
        stop();
        changed.resolve();
      });
      while (!stream.aborted && isOpen(context)) {
        changed = Promise.withResolvers<void>();
        await stream.writeSSE({ data: JSON.stringify(platformStatus(core)) });
        await sleep(pause, undefined, { ref: false });
        await Promise.race([changed.promise, sleep(15_000, undefined, { ref: false })]);
      }
      stop();
    });
  });
}

async function answer(body: (nonce: string) => Markup | Promise<Markup>, status = 200): Promise<Response> {
  const nonce = randomBytes(16).toString("base64url");
  const style = raw(packageFile("templates/platform/page.css"));
  const page = html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>graphform local platform</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style nonce="${nonce}">${style}</style></head>
<body>${await body(nonce)}</body></html>`;
  return new Response(await page, { status, headers: pageHeaders(nonce) });
}

function openPage(core: Core, context: Context<Env>): Response {
  const options = { path: "/", httpOnly: true, sameSite: "Lax" } as const;
  setCookie(context, cookieName(context), core.page.sessions.create(), options);
  return context.redirect("/", 303);
}

/** Browsers share cookies between all ports of a host, so the port is part of the name. */
function cookieName(context: Context<Env>): string {
  return `graphform_page_${new URL(context.req.url).port}`;
}

type Markup = ReturnType<typeof html>;

/** Response headers of a page; they allow its own inline script and style, and nothing from elsewhere. */
function pageHeaders(nonce: string): { readonly [name: string]: string } {
  return {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "content-security-policy": [
      "default-src 'none'",
      `style-src 'nonce-${nonce}'`,
      `script-src 'nonce-${nonce}'`,
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  };
}

/** The sign-in form; `hint` tells why it is shown again. */
function signInPage(hint: string): Markup {
  return html`<main class="narrow"><h1>graphform local platform</h1>
<p class="bad">${hint}</p>
<p><code>graphform platform open</code> signs in by a link. Here it takes the credentials of this platform, which lie in
<code>credentials.json</code> in its data folder.</p>
<form method="post" action="/_platform/page-session">
<label>User name<input name="username" autocomplete="username" required></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button></form></main>`;
}

/** The table of instances and events, updated by the event stream. Contains no secrets. */
async function statusPage(nonce: string): Promise<Markup> {
  const script = raw(packageFile("templates/platform/page.js"));
  return html`<main><header><h1>graphform local platform</h1><p id="engine"></p><p id="live" role="status">connecting</p></header>
<section><h2>Instances <span id="count"></span></h2>
<div class="scroll"><table><thead><tr><th>Status</th><th>Name</th><th>Id</th><th>Tier</th><th>Region</th><th>Endpoint</th>
<th>Changed</th></tr></thead><tbody id="instances"></tbody></table></div><p id="none" hidden>No instances yet.</p></section>
<section><h2>Recent events</h2><ol id="events"></ol></section></main>
<script nonce="${nonce}">${script}</script>`;
}
