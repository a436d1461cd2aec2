import { describe, expect, test } from 'vitest';
import { chooseTarget, type Choice } from './choose-target.ts';
import { parseRemoteRefs } from './remote-refs.ts';

const sha = (letter: string) => letter.repeat(40);
const refs = parseRemoteRefs(
  [
    `${sha('1')}\trefs/heads/main`,
    `${sha('2')}\trefs/heads/v1.9.0`,
    `${sha('3')}\trefs/tags/v1.9.0`,
    `${sha('4')}\trefs/tags/v1.10.0`,
    `${sha('5')}\trefs/tags/v1.10.0^{}`,
    `${sha('6')}\trefs/tags/v2.0.0-beta.1`,
    `${sha('7')}\trefs/tags/nightly`,
  ].join('\n'),
);
const current = { commit: sha('a'), version: '1.8.0' };
const choose = (more: Partial<Parameters<typeof chooseTarget>[0]> = {}): Choice =>
  chooseTarget({ channel: 'stable', ref: null, refs, current, ...more });
const targetOf = (choice: Choice) => (choice.type === 'target' ? choice.target : null);

describe('stable channel', () => {
  test('goes to the newest release, with its commit and tag object', () => {
    expect(targetOf(choose())).toEqual({
      commit: sha('5'),
      name: 'v1.10.0',
      ref: 'refs/tags/v1.10.0',
      tag: { name: 'v1.10.0', object: sha('4') },
      isPinned: false,
    });
  });

  test('stays when the newest release is installed', () => {
    expect(choose({ current: { commit: sha('5'), version: '1.10.0' } }).type).toBe('current');
  });

  test('never goes back to an older release', () => {
    expect(choose({ current: { commit: sha('a'), version: '1.11.0' } })).toMatchObject({ type: 'current' });
  });

  test('reports that there is no release', () => {
    const why = expect.stringContaining('./svc update --channel edge') as string;
    expect(choose({ refs: parseRemoteRefs(`${sha('1')}\trefs/heads/main`) })).toMatchObject({ type: 'none', why });
  });
});

test('the edge channel goes to the head of main, and reports that there is none', () => {
  expect(targetOf(choose({ channel: 'edge' }))).toMatchObject({ commit: sha('1'), name: 'main', tag: null });
  expect(choose({ channel: 'edge', current: { commit: sha('1'), version: '1.0.0' } }).type).toBe('current');
  expect(choose({ channel: 'edge', refs: parseRemoteRefs('') }).type).toBe('none');
});

describe('requested ref', () => {
  test('is looked up as a tag before a branch', () => {
    expect(targetOf(choose({ ref: 'v1.9.0' }))).toMatchObject({ commit: sha('3'), tag: { name: 'v1.9.0' }, isPinned: true });
  });

  test('can be an older release, a pre-release, a branch or a commit', () => {
    expect(targetOf(choose({ ref: 'v1.9.0', current: { commit: sha('a'), version: '3.0.0' } }))?.commit).toBe(sha('3'));
    expect(targetOf(choose({ ref: 'v2.0.0-beta.1' }))?.commit).toBe(sha('6'));
    expect(targetOf(choose({ ref: 'main', channel: 'stable' }))?.commit).toBe(sha('1'));
    expect(targetOf(choose({ ref: sha('9') }))?.commit).toBe(sha('9'));
  });

  test('is rejected if git would read it as an option, or if it does not exist', () => {
    for (const ref of ['--upload-pack=touch /tmp/x', '-x', 'no-such', '', 'abc1234', 'HEAD', '../main', 'main:main'])
      expect(choose({ ref }).type).toBe('none');
  });
});
