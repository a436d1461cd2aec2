/** A reference to a secret inside a text, resolved when a turn begins: `Bearer ${secret:GITHUB_TOKEN}`. */
const reference = /\$\{secret:([^}]*)\}/g;
const nameOfSecret = /^[A-Za-z0-9_.-]{1,128}$/;

/** The names of the secrets that a text refers to. */
export const secretNames = (text: string): string[] => Array.from(text.matchAll(reference), ([, name = '']) => name);

/** The text with every reference in it replaced. */
export const fillSecrets = (text: string, valueOf: (name: string) => string): string =>
  text.replaceAll(reference, (_whole, name: string) => valueOf(name));

/** The text without its references, which are not secret themselves. */
export const withoutReferences = (text: string): string => text.replaceAll(reference, '');

/** What is wrong with the references in a text, or null. */
export function referenceProblem(text: string): string | null {
  if (withoutReferences(text).includes('${secret:')) return 'has a "${secret:" that is not closed';
  for (const name of secretNames(text)) {
    if (!nameOfSecret.test(name)) return `names a secret "${name.slice(0, 40)}", which is not a valid name of a secret`;
    if (name.startsWith('SVC_')) return `names "${name}", which belongs to the service and is not given to tool servers`;
  }
  return null;
}
