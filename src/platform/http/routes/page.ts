/** @module Serves the platform's page, its sign-in and its event stream. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { streamSSE } from "hono/streaming";
import type { Core } from "../../core.ts";
import { ServiceError } from "../../model/service-error.ts";
import { maxOpenBody, openBody } from "../contract.ts";
import { platformStatus } from "../describe.ts";
import type { Env } from "../exchange.ts";
import { type Page, pageHeaders, signInPage, statusPage } from "../page.ts";
import { matchesCredentials } from "./session.ts";

/** Minimum time between two updates of the page, in ms. */
const pause = 200;

/**
 * Registers the page at `/`. It needs a session even on loopback, where other users of the machine, and web pages by DNS rebinding,
 * could read it. A session comes from a one-time link (`platform open`) or the form, and gives access to the page and its stream
 * only.
 */
export function pageEndpoints(app: Hono<Env>, core: Core): void {
  const isOpen = (context: Context<Env>): boolean =>
    core.pageSessions.has(getCookie(context, cookieName(context)) ?? "");

  app.get("/", (context) => {
    const key = context.req.query("key");
    const token = key === undefined ? undefined : core.pageSessions.redeem(key);
    if (token !== undefined) return openPage(context, token);
    const hint = key === undefined ? "" : "That link was used already, or is older than a minute.";
    return answer(isOpen(context) ? statusPage : (nonce) => signInPage(nonce, hint));
  });

  app.post("/_platform/page-session", async (context) => {
    const reader = openBody(context.req.raw, maxOpenBody, core.bodyBudgets.anonymous);
    try {
      const form = new URLSearchParams(await reader.read());
      const given = { username: form.get("username") ?? "", password: form.get("password") ?? "" };
      if (matchesCredentials(core.credentials, given)) return openPage(context, core.pageSessions.open());
      return answer((nonce) => signInPage(nonce, "Wrong user name or password."), 401);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return answer((nonce) => signInPage(nonce, error.message), error.status);
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

async function answer(page: (nonce: string) => Page, status = 200): Promise<Response> {
  const nonce = randomBytes(16).toString("base64url");
  return new Response(await page(nonce), { status, headers: pageHeaders(nonce) });
}

function openPage(context: Context<Env>, token: string): Response {
  setCookie(context, cookieName(context), token, { path: "/", httpOnly: true, sameSite: "Lax" });
  return context.redirect("/", 303);
}

/** Browsers share cookies between all ports of a host, so the port is part of the name. */
function cookieName(context: Context<Env>): string {
  return `graphform_page_${new URL(context.req.url).port}`;
}
