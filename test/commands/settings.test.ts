import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { settingsOf, variables } from "../../src/project/settings.ts";

const password = "correct horse battery staple";

describe("settings", () => {
  it.each(Object.entries(variables))("%s has a sentence for the documentation", (name, about) => {
    expect([name, about]).toEqual([expect.stringMatching(/^[A-Z][A-Z0-9_]*$/), expect.stringMatching(/\.$/)]);
  });

  it("have a value where a variable is set and not empty", () => {
    const settings = settingsOf({ GRAPHFORM_USERNAME: "ada", GRAPHFORM_PASSWORD: "", CI: "true" });
    expect([
      settings.get("GRAPHFORM_USERNAME"),
      settings.get("GRAPHFORM_PASSWORD"),
      settings.get("CI"),
    ]).toEqual(["ada", undefined, "true"]);
    expect(settings.get("GRAPHFORM_TOKEN")).toBeUndefined();
  });

  it("are read once, and hand on the environment itself", () => {
    const environment: { [name: string]: string | undefined } = { GRAPHFORM_USERNAME: "ada" };
    const settings = settingsOf(environment);
    environment["GRAPHFORM_USERNAME"] = "bob";
    environment["TRACEPARENT"] = "later";
    expect(settings.get("GRAPHFORM_USERNAME")).toBe("ada");
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
    expect(settings.get("GRAPHFORM_PASSWORD")).toBe(password);
    expect(printed.join()).not.toContain(password);
  });
});
