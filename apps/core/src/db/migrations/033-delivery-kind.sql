-- 033 (code from 022 on still runs, and sends it as a text): how its channel is to take a delivery, such as `speak` on a device.
ALTER TABLE delivery ADD COLUMN kind TEXT;
