import { existsSync } from 'node:fs';

const own = process.env['TEST_CHROMIUM'];
const headlessShell = '/usr/bin/chromium-headless-shell';

/** Debian's Chromium with all its parts, such as notifications. */
export const wholeChromium = own ?? '/usr/bin/chromium';

/** The Chromium of the tests: its headless build, which takes half of the CPU, if that is installed. */
export const chromiumProgram = own ?? (existsSync(headlessShell) ? headlessShell : wholeChromium);

/** Arguments of every launch. The browser itself asks nobody on the network. */
export const chromiumArguments: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
];

/** Why there is no browser on this machine; null when there is one. */
export const whyNoChromium = (program = chromiumProgram): string | null =>
  existsSync(program) ? null : `there is no ${program}`;
