import { expect, test } from 'vitest';
import { readHeaders } from './mail-headers.ts';
import { neverAnswered } from './never-answered.ts';

const own = ['assistant@home.example'];
const why = (line: string, from: string | null = 'ann@friend.example') =>
  neverAnswered(readHeaders(`${line}\r\n\r\n`), from, own);

test.each([
  'Auto-Submitted: auto-replied',
  'Auto-Submitted: auto-generated; owner-email="x@y.example"',
  'Auto-Submitted: nonsense',
  'auto-submitted:\r\n auto-notified',
  'Auto-Submitted: no\r\nAuto-Submitted: auto-replied',
  'List-Id: <news.example>',
  'List-Unsubscribe: <mailto:x@y.example>',
  'Precedence: bulk',
  'Precedence: Junk',
  'Return-Path: <>',
  'Return-Path: < >',
  'Content-Type: multipart/report; report-type=delivery-status',
  'X-Autoreply: yes',
  'X-Auto-Response-Suppress: All',
  'X-Loop: y',
])('does not answer: %s', (line) => {
  expect(why(line)).toEqual(expect.any(String));
});

test.each([
  'assistant@home.example',
  'mailer-daemon@y.example',
  'no-reply@y.example',
  'noreply+1@y.example',
  'owner-x@y.example',
  null,
])('does not answer: from %s', (from) => {
  expect(why('Subject: x', from)).toEqual(expect.any(String));
});

test.each([
  'Auto-Submitted: no',
  'Auto-Submitted: No (a person)',
  'Return-Path: <ann@friend.example>',
  'Precedence: first-class',
  'X-Listing: 1',
])('answers: %s', (line) => {
  expect(why(line)).toBeNull();
});
