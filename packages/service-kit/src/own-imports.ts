import { registerHooks } from 'node:module';

const root = new URL('../../../', import.meta.url).href;
/** The packages that export each file of their `src` by its name. */
const ofPackage =
  /^@svc\/(chat-ui|connector-kit|contract|device-gateway|engine-kit|service-kit|store|supervisor|testing)\/(.+\.ts)$/;

/**
 * The first act of a program, which imports the rest afterwards. Node asks the disk several times where a module lies, and a process has
 * hundreds: where our own lie is known from their names, and saying so takes a sixth off the CPU of a start. What is not ours, what lies in
 * `node_modules` and what a connector brings is left to Node.
 */
export function findOwnModules(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const url = ownModule(specifier, context.parentURL);
      return url === null ? nextResolve(specifier, context) : { url, format: 'module-typescript', shortCircuit: true };
    },
  });
}

/** The address of one of our modules, by the name that a file of ours has for it; null for any other. */
function ownModule(specifier: string, parent = ''): string | null {
  if (!parent.startsWith(root) || parent.includes('/node_modules/', root.length)) return null;
  if (/^\.\.?\/.*\.ts$/.test(specifier)) return new URL(specifier, parent).href;
  const [, name, file] = ofPackage.exec(specifier) ?? [];
  return file === undefined ? null : `${root}packages/${name}/src/${file}`;
}
