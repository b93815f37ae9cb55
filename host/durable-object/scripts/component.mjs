// Turns the component into files that a Worker can load: JavaScript and core modules, and the types of the contract. The core
// modules are the bytes in the component, unchanged. The licences are copied, since a package holds its own.
import { createHash } from "node:crypto";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { transpile, types } from "@bytecodealliance/jco";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(root, "component", "halfopen.wasm");
const target = join(root, "generated");

/** No code for other runtimes: all modules are imported statically, nothing is fetched or compiled. */
const PLAIN = {
  instantiation: "sync",
  base64Cutoff: 0,
  nodejsCompat: false,
  noNodejsCompat: true,
  wasiShim: false,
  noTypescript: true,
};

const component = await readFile(source).catch((error) => {
  if (error.code !== "ENOENT") throw error;
  console.error(`there is no component at ${source}: build it with "npm run component", then build again`);
  process.exit(1);
});

const code = await transpile(component, { ...PLAIN, name: "halfopen" });
const declarations = await types(join(root, "..", "..", "wit"), {
  name: "halfopen",
  worldName: "component",
  instantiation: "sync",
});

await rm(target, { recursive: true, force: true });
for (const [name, content] of Object.entries({ ...code.files, ...declarations })) {
  const file = join(target, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) await copyFile(join(root, "..", "..", licence), join(root, licence));
const sha256 = createHash("sha256").update(component).digest("hex");
console.log(`component ${sha256.slice(0, 16)}..., ${component.length} bytes: ${Object.keys(code.files).length} files`);
