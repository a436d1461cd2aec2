import { expect, test } from 'vitest';
import { plain } from '../terminal.ts';
import { renderFinding, type Finding } from './finding.ts';

const finding: Finding = { name: 'port', state: 'problem', text: '3023 (core) is taken', fix: null };
const render = (change: Partial<Finding>, width = 50) => renderFinding({ ...finding, ...change }, plain, width).split('\n');

test.each([
  ['ok', '✓'],
  ['problem', '✗'],
  ['note', '!'],
  ['skipped', '-'],
] as const)('marks %s with %s', (state, mark) => {
  expect(render({ state })).toEqual([`${mark} port          3023 (core) is taken`]);
});

test('wraps text and fix at the width, each with a hanging indent', () => {
  expect(
    render({ text: 'is used by a program with a rather long name', fix: 'end it, or set SVC_CORE_PORT to another port' }),
  ).toEqual([
    '✗ port          is used by a program with a rather',
    '                long name',
    '                fix: end it, or set SVC_CORE_PORT',
    '                     to another port',
  ]);
});

test('keeps a fix with a path on one line so that it can be copied', () => {
  const fix = "chmod -R go= '/home/ada/a folder/with a long name/.svc'";
  expect(render({ fix }).slice(1)).toEqual([`                fix: ${fix}`]);
});
