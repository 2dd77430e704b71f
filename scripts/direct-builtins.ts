import type { Plugin } from "esbuild";

/**
 * Replaces imports of Node's own modules by `process.getBuiltinModule`, so that only the exports that are used are read. An import reads all of
 * them, and much of that loads further modules (the streams of `node:fs`, the web's keys of `node:crypto`).
 */
export const directBuiltins: Plugin = {
  name: "direct builtins",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: "builtin" } : undefined,
    );
    onLoad({ filter: /./, namespace: "builtin" }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter(
        (name) => /^\w+$/.test(name) && name !== "default",
      );
      // Marked as pure, so that what is not used is left out of the bundle.
      const values = names.map((name) => `const $${name} = /* @__PURE__ */ (() => all.${name})();`);
      const exported = names.map((name) => `$${name} as ${name}`);
      return {
        contents: `const all = /* @__PURE__ */ process.getBuiltinModule("${path}");
          ${values.join("\n")}
          export { all as default, ${exported.join(", ")} };`,
      };
    });
  },
};
