import { describe, expect, it } from "vitest";
import { textsBehind } from "../../src/hosting/wire/spelling.ts";
import type { Json } from "../../src/model/json.ts";
import { growth } from "../support/work.ts";
import { listen } from "./listen.ts";
import { always, behindSignIn, failure, place, serviceOf } from "./service-of.ts";

const names = ["graphdbPassword", "password"];
const live = 'L1ve "pa\\ss/wörd&';
const params = { name: "a", graphdbPassword: live, other: "b" };

describe("a secret in an answer", () => {
  const answers: readonly [where: string, answer: Json | string, found: string][] = [
    ["among the parameters that describe repeats", { id: "i", result_params: params }, live],
    ["among those of a create that failed early", { launch_input_params: params }, live],
    ["in a list of everything", { resourceInstances: [{ result_params: params }] }, live],
    ["in an event", { events: [{ message: "x", requestParams: params }] }, live],
    ["in the words of an event that are JSON", { events: [{ message: JSON.stringify(params) }] }, live],
    ["in JSON with words round it", { message: `bad row ${JSON.stringify(params)}!` }, live],
    ["in JSON within JSON", { message: JSON.stringify({ body: JSON.stringify(params) }) }, live],
    ["in JSON with blanks", JSON.stringify(params, undefined, 2), live],
    ["in JSON of Go, which escapes &", JSON.stringify(params).replaceAll("&", "\\u0026"), live],
    ["in a query", { message: "refused: ?graphdbPassword=L1ve-pass&x=1" }, "L1ve-pass"],
    ["in a map of Go", { message: "got map[graphdbPassword:L1ve-pass name:a]" }, "L1ve-pass"],
    ["at the end of a map of Go", { message: "got map[name:a graphdbPassword:L1ve-pass]" }, "L1ve-pass"],
    ["with a sign in it that ends others", { message: "graphdbPassword=L1ve,pass now" }, "L1ve,pass"],
    ["that holds its own name", { password: "my-password:1" }, "my-password:1"],
    ["of a user", { message: 'user warmer: {"password":"L1ve-pass"}' }, "L1ve-pass"],
  ];
  it.each(answers)("is found %s", (_, answer, found) => {
    expect(textsBehind(names, typeof answer === "string" ? answer : JSON.stringify(answer))).toContain(found);
  });

  it.each([
    ["the name alone", { message: "graphdbPassword is required" }],
    ["a name that is a value", { key: "graphdbPassword", type: "Password" }],
    ["a value that is no text", { graphdbPassword: null, password: { minLength: 6 } }],
    ["prose behind a colon", { message: "graphdbPassword: must have 6 characters" }],
    ["a word behind a sign", { message: "password:required, or graphdbPassword=too short" }],
    ["another parameter", { result_params: { name: "a", description: live } }],
  ])("is not %s", (_, answer) => {
    expect(textsBehind(names, JSON.stringify(answer)).filter((text) => text !== "")).toEqual([]);
  });

  it.each([
    ["names", "graphdbPassword"],
    ["names and values", 'graphdbPassword":"a'],
    ["values that never end", 'password":"'],
    ["escaped names", 'password\\\\\\":'],
  ])(
    "is looked for in work that is in proportion to the answer, also in one of nothing but %s",
    async (_, part) => {
      const work = (count: number): Promise<number> =>
        growth((text: string) => textsBehind(names, text), part.repeat(count), part.repeat(8 * count));
      expect(await work(2000)).toBeLessThan(12);
    },
  );

  it("is hidden from then on, in other answers and in refusals", async () => {
    const server = await listen(
      behindSignIn(({ method }) =>
        method === "GET"
          ? { body: { id: "i-1", status: "RUNNING", result_params: { ...params, description: live } } }
          : { status: 400, body: { message: `no: ${live}` } },
      ),
    );
    const service = await serviceOf(server, { secretNames: names });
    const call = { params: { ...place, id: "i-1" } };
    expect(service.hide(live)).toBe(live);
    const { values } = await service.read({ operation: "instance.describe", ...call }, always);
    expect(values["resultParams"]).toEqual({ ...params, description: live });
    const refused = await failure(service.write({ operation: "instance.restart", ...call }, always));
    expect(String(refused)).toContain("no: (sensitive) (400)");
  });
});
