import { expect, onTestFinished, test } from 'vitest';
import { pause } from '@svc/testing/pause.ts';
import { randomGitHubFaults } from '@svc/testing/github-server/github-faults.ts';
import { waitFor } from '@svc/testing/house.ts';
import { createRandom } from '@svc/testing/random.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { readCore } from './channel-killed/accounts.ts';
import { answerTo } from './channel-killed/engine-script.ts';
import { killable, type Killable } from './channel-killed/killable-service.ts';
import { givenUpTooSoon } from './killed-chat/given-up.ts';
import { findBroken, isAnswered, type Asked } from './issues-killed/accounts.ts';
import { openIssuesService, type IssuesService } from './issues-killed/issues-service.ts';

const kills = Number(process.env['ISSUES_KILLS'] ?? 2);
const comments = Number(process.env['ISSUES_COMMENTS'] ?? 14);
const issues = Number(process.env['ISSUES_COUNT'] ?? 4);
const shares = { cutBefore: 0.01, cutAfter: 0.02, errorBefore: 0.01, errorAfter: 0.02, slow: 0.02, limit: 0.003 };

test(
  `answers each mention in ${comments} comments on ${issues} issues once through ${kills} kills and faults, within the limits`,
  async () => {
    const seed = Number(process.env['ISSUES_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
    const random = createRandom(seed);
    const service = await openIssuesService(issues, {
      aheadMs: -4 * 60_000,
      limits: {},
      timeScale: 60,
      doubled: { random, share: 0.1 },
    });
    onTestFinished(() => service.close());
    const { server } = service;
    server.fault = randomGitHubFaults(random, shares, 0.5);
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
    server.fault = () => undefined;
    let broken = ['nothing was looked at'];
    const explain = () =>
      `seed ${seed}: ${broken.length} rules broken (killed: ${killed.join(' ')})\n${broken.slice(0, 8).join('\n')}`;
    await waitFor(
      async () => {
        const { failed } = await readCore(service.coreUrl, await keysOf(service.coreUrl));
        const found = findBroken(server, asked, failed);
        broken = [...found.broken, ...givenUpTooSoon(found.givenUp, coreEnds)];
        return broken.length === 0;
      },
      120_000,
      explain,
    );
    expect([service.faults(), server.violations, server.offences]).toEqual(['', [], []]);
  },
  300_000 + kills * 8000 + comments * 1500,
);

/** People write the next comment of an issue once the mention before is answered, or after a while. */
async function ask({ server, issues: all, people }: IssuesService, random: () => number): Promise<Asked[]> {
  const asked: Asked[] = [];
  const talks = all.map(async (issue, n) => {
    const share = Math.floor(comments / all.length) + (n < comments % all.length ? 1 : 0);
    let last: Asked | undefined;
    for (let said = 0; said < share; said++) {
      await pause(50 + random() * 300);
      for (let waited = 0; last !== undefined && !isAnswered(server, last) && waited < 200; waited++) await pause(50);
      const name = `m${asked.length + 1}`;
      const words = random() > 0.95 ? 9000 : Math.floor(random() * 60);
      const isCall = random() < 0.7;
      const at = performance.now();
      const author = people[Math.floor(random() * people.length)]!;
      const comment = server.comment(issue, author, `${isCall ? '@assistant ' : '`@assistant` '}[${name}] ${words}`);
      last = { issue, name, comment, answer: isCall ? answerTo(name, words, 0) : null, at };
      asked.push(last);
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
