import { expect, test } from 'vitest';
import { workedMs } from '@svc/testing/worked-ms.ts';
import { calendarText } from './calendar-text.ts';
import { mailAddress } from './mail-address.ts';
import { readHeaders } from './mail-headers.ts';
import { isAnswer, plainSubject, threadIds } from './thread-ids.ts';

test('threadIds() returns the earlier mails, oldest first', () => {
  const raw = 'Message-ID: <c@x>\r\nIn-Reply-To: <b@x> (of Ann)\r\nReferences: <a@x>\r\n <b@x>\r\n\r\n';
  expect(threadIds(readHeaders(raw))).toEqual({ own: 'c@x', before: ['a@x', 'b@x'] });
});

test('keeps the first and the newest mails of a long thread', () => {
  const ids = Array.from({ length: 5000 }, (_, n) => `<${n}@x>`).join(' ');
  const { before } = threadIds(readHeaders(`References: ${ids}\r\n\r\n`));
  expect([before.length, before[0], before.at(-1)]).toEqual([100, '0@x', '4999@x']);
});

test('compares subjects without reply prefixes', () => {
  expect(plainSubject('Re: AW: [1] Fwd: Hello   World')).toBe(plainSubject('[1] Fwd: hello world'));
  expect(plainSubject('RE: Re[2]: Hello')).toBe('hello');
  expect([isAnswer('Re: x'), isAnswer('Fwd: x'), isAnswer('Regards')]).toEqual([true, false, false]);
});

test('calendarText() describes an invitation', () => {
  const lines = [
    'BEGIN:VCALENDAR',
    'METHOD:REQUEST',
    'BEGIN:VEVENT',
    'SUMMARY:Tea\\, with\r\n  cake',
    'DTSTART;TZID="Europe:Berlin":20261103T150000',
    'DTEND:20261103T150000Z',
    'LOCATION:Room 1',
    'ORGANIZER;CN="Ann: B":mailto:ann@x.example',
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  expect(calendarText(lines.join('\r\n'))).toBe(
    'Invitation: Tea, with cake, from 2026-11-03 15:00, to 2026-11-03 15:00 UTC, at Room 1, by ann@x.example',
  );
  expect(calendarText('no calendar')).toBeNull();
});

test.each([
  ['Ann@Friend.Example', 'ann@friend.example'],
  ['аnn@friend.example', null],
  ['"a b"@friend.example', null],
  ['ann@friend.example\u200b', null],
  ['ann@-x.example', null],
  ['ann', null],
])('normalizes the address %s to %s', (text, address) => {
  expect(mailAddress(text)).toBe(address);
});

test.each([
  ['a parameter with a colon', 'SUMMARY;ALTREP="cid:x":Lunch: "now"', 'Lunch: "now"'],
  ['a quote that does not end', 'SUMMARY:5" pipe: buy', '5" pipe: buy'],
])('calendarText() separates the value from %s', (_what, line, said) => {
  expect(calendarText(`BEGIN:VEVENT\r\n${line}\r\nEND:VEVENT`)).toBe(`Invitation: ${said}`);
});

test('calendarText() takes linear time for an appointment of colons', () => {
  const since = workedMs();
  expect(calendarText(`BEGIN:VEVENT\nSUMMARY${':'.repeat(190_000)}"`)).toMatch(/^Invitation: :+$/);
  expect(workedMs() - since).toBeLessThan(2000);
});
