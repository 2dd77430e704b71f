import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { settingsOf, variables } from "../../src/project/settings.ts";

const password = "correct horse battery staple";

describe("settings", () => {
  it.each(Object.entries(variables))("%s is what its variable says", (key, { name }) => {
    const found = Object.entries(variables).filter(([, variable]) => variable.name === name);
    expect(found.map(([known]) => known)).toEqual([key]);
  });

  it("have a value where a variable is set and not empty", () => {
    const settings = settingsOf({ GRAPHFORM_USERNAME: "ada", GRAPHFORM_PASSWORD: "", CI: "true" });
    expect([settings.get("username"), settings.get("password"), settings.get("ci")]).toEqual([
      "ada",
      undefined,
      "true",
    ]);
    expect(settings.get("token")).toBeUndefined();
  });

  it("are read once, and hand on the environment itself", () => {
    const environment: { [name: string]: string | undefined } = { GRAPHFORM_USERNAME: "ada" };
    const settings = settingsOf(environment);
    environment["GRAPHFORM_USERNAME"] = "bob";
    environment["TRACEPARENT"] = "later";
    expect(settings.get("username")).toBe("ada");
    expect(settings.environment()["TRACEPARENT"]).toBe("later");
  });

  it("show no value, however they are printed", () => {
    const settings = settingsOf({ GRAPHFORM_PASSWORD: password, ANOTHER: password });
    const printed = [
      JSON.stringify(settings),
      JSON.stringify({ ...settings }),
      String(settings),
      inspect(settings, { depth: 9, showHidden: true, getters: true }),
    ];
    expect(settings.get("password")).toBe(password);
    expect(printed.join()).not.toContain(password);
  });
});
