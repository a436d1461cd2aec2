import { expect, test } from 'vitest';
import { read } from './repository.ts';

/**
 * The rules for pages in a real browser, by the number that begins the titles of their tests, and the files of `test/e2e` that check them for the
 * dashboard or, where the code is the same, for the app of devices. 5 to 7, the codes of the login, are checked without a browser: `apps/core/test`.
 */
const rules: Readonly<Record<number, readonly [rule: string, ...files: string[]]>> = {
  1: ['a set-up link works once', 'dashboard-attacks'],
  2: ['the first run goes on after a reload', 'dashboard-chat'],
  3: ['passkeys, and what goes wrong with them', 'dashboard-passkeys'],
  4: ['no passkey at 127.0.0.1', 'dashboard-passkeys'],
  8: ['guesses are slowed down, passkeys are not', 'dashboard-passkeys'],
  9: ['who was signed out signs in again', 'dashboard-passkeys'],
  10: ['a new password signs others out', 'dashboard-passkeys'],
  11: ['the cookie', 'dashboard-attacks'],
  12: ['nobody is led elsewhere', 'dashboard-attacks'],
  13: ['what is dangerous asks again', 'dashboard-acts', 'dashboard-passkeys'],
  14: ['a login that ends while one writes', 'dashboard-acts'],
  15: ['sent without network: once', 'dashboard-chat'],
  16: ['a line that breaks: no gap, no double', 'dashboard-chat-faults'],
  17: ['a core that is killed in a turn', 'dashboard-chat-faults'],
  18: ['what was missed is read again', 'dashboard-live'],
  19: ['a silent stream is not live', 'dashboard-live'],
  20: ['many tabs, few connections', 'dashboard-chat', 'dashboard-live'],
  21: ['the weight of the pages', 'dashboard-looks'],
  22: ['10,000 messages', 'dashboard-chat-faults'],
  23: ['older messages move nothing', 'dashboard-chat-faults'],
  24: ['100 deltas a second', 'dashboard-use'],
  25: ['who reads above stays there', 'dashboard-chat'],
  26: ['every end of a turn', 'dashboard-chat'],
  27: ['steering, and replies that do not arrive', 'dashboard-undelivered'],
  28: ['two tabs, one conversation', 'dashboard-chat'],
  29: ['a large file over a reload', 'dashboard-chat'],
  30: ['hostile texts are texts', 'dashboard-acts'],
  31: ['bombs of Markdown', 'dashboard-use'],
  32: ['no picture from elsewhere', 'device-service'],
  33: ['files that could run are saved alone', 'device-service'],
  34: ['axe finds nothing', 'dashboard-looks'],
  35: ['the keyboard alone', 'dashboard-use'],
  36: ['two announcements a turn', 'dashboard-use'],
  37: ['motion, colours of the system, 200 %', 'dashboard-use'],
  38: ['nothing goes out of the page', 'dashboard-looks'],
  39: ['an old tab and a new version', 'device-app-network'],
  40: ['frames, other origins, names sent along', 'dashboard-attacks', 'device-service'],
};

test.each(Object.entries(rules))('[%s] is tested in the listed files', (number, [, ...files]) => {
  for (const file of files)
    expect(read(`test/e2e/${file}.test.ts`), file).toMatch(new RegExp(`['\`](?:\\[\\d+\\] )?\\[${number}\\] `));
});
