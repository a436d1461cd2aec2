-- 011 (code from 001 on still runs): finding who was refused lately
CREATE INDEX event_denied ON event (ts) WHERE kind = 'denied';
