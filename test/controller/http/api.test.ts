import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openApi, type TestApi } from "./open-api.ts";

describe("the API", () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await openApi();
  }, 120_000);
  afterAll(() => api?.close());

  it("adds, shows, lists and removes a manifest", async () => {
    const { tokens } = api;
    const { run } = await api.add("shop", "orders");
    const shown = await api.send("GET", "/api/v1/manifests/shop/orders", { token: tokens.viewer });
    expect(shown.json).toMatchObject({ tenant: "shop", name: "orders", status: "unchecked", auto: "none" });
    const runs = await api.send("GET", "/api/v1/runs?manifest=orders", { token: tokens.viewer });
    expect(runs.json).toMatchObject({
      runs: [{ id: run, status: "pending", manifest: "orders" }],
      next: null,
    });
    const metrics = await api.send("GET", "/metrics", { token: tokens.all });
    expect(metrics.text).toContain('graphform_manifests{status="unchecked"} 1');
    const removed = await api.send("DELETE", "/api/v1/manifests/shop/orders", { token: tokens.admin });
    expect(removed.json).toEqual({ result: "removed" });
    expect(api.troubles).toEqual([]);
  });
});
