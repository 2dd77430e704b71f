import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { streamSSE } from "hono/streaming";
import type { Core } from "../core.ts";
import type { Env } from "../exchange.ts";
import { pageHeaders, signInPage, statusPage } from "../page.ts";
import { readBody } from "../read-body.ts";
import { platformStatus } from "../status.ts";
import { isOurs } from "./session.ts";

/** The session of a browser; it opens the page and its stream and nothing else. */
const pageCookie = "graphform_page";

/** Shortest time between two pictures of the state, in ms. */
const pause = 200;

/**
 * The page at `/`. It needs a session even on loopback, where other users of the machine and web pages by way of
 * rebound names could read it: from a link that works once (`pageKey`), or from the form.
 */
export function pageEndpoints(app: Hono<Env>, core: Core, pageKey: string): void {
  let key: string | undefined = pageKey;
  const isOpen = (context: Context<Env>): boolean =>
    core.sessions.userOf(getCookie(context, pageCookie) ?? "") !== undefined;

  app.get("/", async (context) => {
    const given = context.req.query("key");
    if (given !== undefined && key !== undefined && isSame(given, key)) {
      key = undefined;
      return openPage(context, core);
    }
    const nonce = randomBytes(16).toString("base64url");
    const hint = given === undefined ? "" : "That link was used already; sign in here.";
    const html = isOpen(context) ? statusPage(nonce) : signInPage(nonce, hint);
    return new Response(html, { headers: pageHeaders(nonce) });
  });

  app.post("/_platform/page-session", async (context) => {
    const form = new URLSearchParams((await readBody(context.req.raw)) ?? "");
    const given = { username: form.get("username") ?? "", password: form.get("password") ?? "" };
    if (isOurs(core.credentials, given)) return openPage(context, core);
    const nonce = randomBytes(16).toString("base64url");
    return new Response(signInPage(nonce, "Wrong user name or password."), {
      status: 401,
      headers: pageHeaders(nonce),
    });
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

async function openPage(context: Context<Env>, core: Core): Promise<Response> {
  const { token } = await core.sessions.open(core.credentials.username);
  setCookie(context, pageCookie, token, { path: "/", httpOnly: true, sameSite: "Lax" });
  return context.redirect("/", 303);
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
