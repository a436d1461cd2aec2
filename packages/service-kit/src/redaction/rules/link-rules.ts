import type { DetectionRule } from './rule.ts';
import { findAll } from './structure-rules.ts';

/** An address of the web, and the name of its host. Programs make links of `www.` too. */
const link =
  /(?<secret>(?:https?:\/\/(?:[^\s/?#@<>"'()[\]]{0,128}@)?|(?<![\w./@-])www\.)(?<host>[^\s/?#:<>"'()[\]\\]{1,253})[^\s<>"')[\]]{0,2048})/dgi;

/** Links to any other host than these and those below them. */
export const foreignLinks = (hosts: readonly string[]): DetectionRule => ({
  id: 'foreign-link',
  triggers: [{ opening: 'token', words: ['http://', 'https://', 'www.'] }],
  find: (text) => findAll(text, link, 'link', (_link, { groups }) => !isBelow(groups?.['host'] ?? '', hosts)),
});

const isBelow = (host: string, hosts: readonly string[]): boolean => {
  const name = host.toLowerCase().replace(/\.+$/, '');
  return hosts.some((each) => name === each || `www.${name}` === each || name.endsWith(`.${each}`));
};
