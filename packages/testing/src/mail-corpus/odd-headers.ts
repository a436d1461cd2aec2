import { lines, mailbox } from './corpus-mail.ts';
import { head, plain, says, type Odd } from './odd-mail.ts';

export const oddHeaders: Readonly<Record<string, Odd>> = {
  'no body': (from, id) => ({ raw: lines(...head(from, id)) }),
  'an empty body': (from, id) => ({ raw: lines(...head(from, id), '') }),
  'only spaces': (from, id) => ({ raw: lines(...head(from, id), '', ' \t ') }),
  'no Message-ID': (from) => ({
    raw: lines(...head(from, 'x').filter((line) => !line.startsWith('Message-ID')), '', says),
    says,
  }),
  'an empty Message-ID': (from) => ({
    raw: lines(...head(from, 'x').map((line) => (line.startsWith('Message-ID') ? 'Message-ID: <>' : line)), '', says),
    says,
  }),
  'two Message-IDs': plain('Message-ID: <another@friend.example>'),
  'a Message-ID of others': (from) => ({ raw: lines(...head(from, 'same-for-all'), '', says), says }),
  'a Message-ID of others, too': (from) => ({ raw: lines(...head(from, 'same-for-all'), '', says), says }),
  'a Message-ID of 5000 characters': (from) => ({ raw: lines(...head(from, 'x'.repeat(5000)), '', says), says }),
  'nothing but a From': (from) => ({ raw: lines(`From: ${from}`, '', says), says }),
  'no Date': (from, id) => ({ raw: lines(...head(from, id).filter((line) => !line.startsWith('Date')), '', says), says }),
  'two Subjects': plain('Subject: Dinner'),
  'two Tos': plain('To: eve@elsewhere.example'),
  'a field without a name': plain(': nothing'),
  'a line that is no field': plain('This is not a field'),
  'a field with a space before its colon': plain('X-Odd : yes'),
  'a From line of mbox': (from, id) => ({ raw: lines(...head(from, id), '', '>From the start', says), says }),
  'names of fields in capitals': (from, id) => ({
    raw: lines(`FROM: Ann <${from}>`, `TO: ${mailbox}`, `SUBJECT: Lunch`, `MESSAGE-ID: <${id}@friend.example>`, '', says),
    says,
  }),
  'a From in many lines': (from, id) => ({
    raw: lines('From:', ' Ann', '\t of Friends', ` <${from}>`, ...head(from, id).slice(1), '', says),
    says,
  }),
  'an address with a comment (RFC 5322 A.5)': (from, id) => ({
    raw: lines(`From: Pete(A nice \\) chap) <${from}>`, ...head(from, id).slice(1), '', says),
    says,
  }),
  'an address alone with its name in a comment': (from, id) => ({
    raw: lines(`From: ${from} (Ann Friend)`, ...head(from, id).slice(1), '', says),
    says,
  }),
  'a header of 3000 fields': plain(...Array.from({ length: 3000 }, (_, n) => `X-Field-${n}: ${n}`)),
  'a field of 200000 characters': plain(`X-Long: ${'long '.repeat(40_000)}`),
  'a field of 2000 lines': plain(`X-Folded: a${'\r\n b'.repeat(2000)}`),
  '2000 references': plain(`References:${Array.from({ length: 2000 }, (_, n) => ` <${n}@elsewhere.example>`).join('\r\n')}`),
  'invalid references': plain('References: what you said yesterday', 'In-Reply-To: <broken'),
  'bytes of 8 bits in the header': (from, id) => ({
    raw: Buffer.concat([lines(...head(from, id)), Buffer.from('X-Name: caf\xe9\r\n', 'latin1'), lines('', says)]),
    says,
  }),
  'a subject in plain UTF-8': (from, id) => ({
    raw: lines(...head(from, id).map((line) => (line.startsWith('Subject') ? 'Subject: Essen 餅 👍' : line)), '', says),
    says,
  }),
  'a subject that turns its direction': (from, id) => ({
    raw: lines(
      ...head(from, id).map((line) => (line.startsWith('Subject') ? 'Subject: =?utf-8?Q?=E2=80=AEtxt.exe?=' : line)),
      '',
      says,
    ),
    says,
  }),
  'an encoded word that does not end': (from, id) => ({
    raw: lines(...head(from, id).map((line) => (line.startsWith('Subject') ? 'Subject: =?utf-8?B?SGVsbG8' : line)), '', says),
    says,
  }),
  'an encoded word of an unknown charset': (from, id) => ({
    raw: lines(
      ...head(from, id).map((line) => (line.startsWith('Subject') ? 'Subject: =?x-nonsense?Q?=FF=FE?=' : line)),
      '',
      says,
    ),
    says,
  }),
  'a date of the future': (from, id) => ({
    raw: lines(
      ...head(from, id).map((line) => (line.startsWith('Date') ? 'Date: Fri, 31 Dec 9999 23:59:59 +0000' : line)),
      '',
      says,
    ),
    says,
  }),
  'an invalid date': (from, id) => ({
    raw: lines(...head(from, id).map((line) => (line.startsWith('Date') ? 'Date: Thu, 99 Foo -1 99:99' : line)), '', says),
    says,
  }),
  'the mail of RFC 5322 A.1.1': (from) => ({
    raw: lines(
      `From: John Doe <${from}>`,
      'To: Mary Smith <mary@example.net>',
      'Subject: Saying Hello',
      'Date: Fri, 21 Nov 1997 09:55:06 -0600',
      `Message-ID: <1234-${from}>`,
      '',
      'This is a message just to say hello.',
      'So, "Hello".',
    ),
    says: 'So, "Hello".',
  }),
  'the mail of RFC 5322 A.5': (from) => ({
    raw: lines(
      `From: Pete(A nice \\) chap) <${from}>`,
      'To:A Group(Some people)',
      "     :Chris Jones <c@(Chris's host.)public.example>,",
      '         joe@example.org,',
      '  John <jdoe@one.test> (my dear friend); (the end of the group)',
      'Cc:(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;',
      'Date: Thu,',
      '      13',
      '        Feb',
      '          1969',
      '      23:32',
      '               -0330 (Newfoundland Time)',
      `Message-ID:              <testabcd.1234-${from}>`,
      '',
      'Testing.',
    ),
    says: 'Testing.',
  }),
  'the mail of RFC 2047 8': (from, id) => ({
    raw: lines(
      `From: =?US-ASCII?Q?Keith_Moore?= <${from}>`,
      'To: =?ISO-8859-1?Q?Keld_J=F8rn_Simonsen?= <keld@dkuug.example>',
      'CC: =?ISO-8859-1?Q?Andr=E9?= Pirard <PIRARD@vm1.example>',
      'Subject: =?ISO-8859-1?B?SWYgeW91IGNhbiByZWFkIHRoaXMgeW8=?=',
      '    =?ISO-8859-2?B?dSB1bmRlcnN0YW5kIHRoZSBleGFtcGxlLg==?=',
      `Message-ID: <${id}@friend.example>`,
      '',
      says,
    ),
    says,
  }),
};
