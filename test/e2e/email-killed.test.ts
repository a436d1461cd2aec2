import { describe, expect, onTestFinished, test } from 'vitest';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { pause } from '@svc/testing/pause.ts';
import { waitFor } from '@svc/testing/house.ts';
import { lines, mailbox, stamp } from '@svc/testing/mail-corpus/corpus-mail.ts';
import { whyNoMailServers } from '@svc/testing/mail-servers/mail-programs.ts';
import { createRandom } from '@svc/testing/random.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { readCore } from './channel-killed/accounts.ts';
import { answerTo, scriptText } from './channel-killed/engine-script.ts';
import { killable, type Killable } from './channel-killed/killable-service.ts';
import { findBroken, isAnswered, type Asked, type Found } from './email/accounts.ts';
import { openEmailService, type EmailService } from './email/email-service.ts';
import { givenUpTooSoon } from './killed-chat/given-up.ts';

const why = whyNoMailServers();
const kills = Number(process.env['EMAIL_KILLS'] ?? 2);
const mails = Number(process.env['EMAIL_MAILS'] ?? 12);
const people = Array.from({ length: 6 }, (_, n) => `ann${n}@friend.example`);

describe.skipIf(why !== null)(`e-mail through kills${skipNote(why)}`, () => {
  test(
    `each of ${mails} mails is answered once through ${kills} kills of connector, manager, core and connections`,
    async () => {
      const seed = Number(process.env['EMAIL_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
      const random = createRandom(seed);
      const service = await openEmailService({ people, script: scriptText, config: { copy_to_self: true } });
      onTestFinished(() => service.close());
      const asking = ask(service, random);
      const killed: Killable[] = [];
      const coreEnds: number[] = [];
      for (let round = 0; round < kills; round++) {
        await pause(200 + random() * 1500);
        const what = killable[Math.floor(random() * killable.length)] ?? 'core';
        killed.push(what);
        await service.kill(what);
        if (what === 'core') coreEnds.push(performance.now());
      }
      await service.recover();
      const asked = await asking;
      let found: Found = { broken: ['nothing was looked at'], givenUp: [], twice: 0 };
      const isSound = async () => {
        const { failed } = await readCore(service.coreUrl, await keysOf(service.coreUrl));
        found = await findBroken(service.servers, asked, failed);
        found.broken.push(...givenUpTooSoon(found.givenUp, coreEnds));
        return found.broken.length === 0;
      };
      const explain = () =>
        `seed ${seed}: ${found.broken.length} rules broken by ${asked.length} mails (killed: ${killed.join(' ')})\n${found.broken.slice(0, 8).join('\n')}\n${service.log().slice(-3000)}`;
      await waitFor(isSound, 120_000, explain);
      // A late second answer would be found then.
      await pause(2000);
      expect([await isSound(), asked.length, service.faults()]).toEqual([true, mails, '']);
      // A copy of each answer goes to the mailbox, where it is looked for before it is sent again.
      expect(found.twice).toBe(0);
    },
    300_000 + kills * 8000 + mails * 1500,
  );
});

/** People write the next mail of a thread once the one before is answered, or after a while. */
async function ask({ servers }: EmailService, random: () => number): Promise<Asked[]> {
  const asked: Asked[] = [];
  const talks = people.map(async (person, n) => {
    const share = Math.floor(mails / people.length) + (n < mails % people.length ? 1 : 0);
    let last: Asked | undefined;
    for (let said = 0; said < share; said++) {
      await pause(50 + random() * 300);
      for (let waited = 0; last !== undefined && waited < 200 && !(await isAnswered(servers, last)); waited++) await pause(50);
      const name = `m${asked.length + 1}`;
      const words = random() > 0.95 ? 900 : Math.floor(random() * 60);
      const one: Asked = {
        person,
        id: `<${name}@friend.example>`,
        name,
        answer: answerTo(name, words, 0),
        at: performance.now(),
      };
      asked.push(one);
      const before = last !== undefined && random() < 0.7 ? [`In-Reply-To: ${last.id}`, `References: ${last.id}`] : [];
      last = one;
      const header = [`From: <${person}>`, `To: ${mailbox}`, 'Subject: Lunch', `Message-ID: ${one.id}`, ...before];
      const raw = Buffer.concat([
        Buffer.from(stamp('dmarc=pass header.from=friend.example')),
        lines(...header, '', `[${name}] ${words}`),
      ]);
      await servers.deliver(mailbox, raw, person);
    }
  });
  await Promise.all(talks);
  return asked;
}

async function keysOf(coreUrl: string): Promise<string[]> {
  const { body } = await requestJson<{ sessions: { conversation_key: string }[] }>(`${coreUrl}/v2/sessions?limit=1000`, {
    timeoutMs: 10_000,
  });
  return body.sessions.map(({ conversation_key }) => conversation_key);
}
