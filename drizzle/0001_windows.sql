CREATE TABLE "class_era" (
	"class" text COLLATE "C" NOT NULL,
	"since" timestamp (3) with time zone NOT NULL,
	"store" smallint NOT NULL,
	"window_ms" bigint NOT NULL,
	CONSTRAINT "class_era_pkey" PRIMARY KEY("class","since"),
	CONSTRAINT "class_era_store_known" CHECK (store BETWEEN 1 AND 2)
);
--> statement-breakpoint
CREATE TABLE "class_place" (
	"class" text COLLATE "C" PRIMARY KEY NOT NULL,
	"redis_until" timestamp (3) with time zone,
	"postgres_until" timestamp (3) with time zone,
	"ledger_held" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "class_retention" (
	"class" text COLLATE "C" PRIMARY KEY NOT NULL,
	"keys_complete_since" timestamp (3) with time zone,
	"ran_at" timestamp (3) with time zone,
	"took_ms" integer DEFAULT 0 NOT NULL,
	"erased" bigint DEFAULT 0 NOT NULL,
	"forgotten" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "class_stat" (
	"minute" timestamp (3) with time zone NOT NULL,
	"class" text COLLATE "C" NOT NULL,
	"claims" integer DEFAULT 0 NOT NULL,
	"duplicates" integer DEFAULT 0 NOT NULL,
	"completed" integer DEFAULT 0 NOT NULL,
	"failed" integer DEFAULT 0 NOT NULL,
	"expired" integer DEFAULT 0 NOT NULL,
	"held" integer DEFAULT 0 NOT NULL,
	"mismatches" integer DEFAULT 0 NOT NULL,
	"run_times" integer[] NOT NULL,
	CONSTRAINT "class_stat_pkey" PRIMARY KEY("minute","class")
);
--> statement-breakpoint
CREATE TABLE "mismatch_tally" (
	"record_id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"class" text COLLATE "C" NOT NULL,
	"consumer" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"count" bigint NOT NULL,
	"first_at" timestamp (3) with time zone NOT NULL,
	"last_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "window_cell" (
	"id" uuid PRIMARY KEY NOT NULL,
	"version" bigint NOT NULL,
	"fencing_token" bigint NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"body" "bytea" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "window_loss" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "window_loss_id" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"class" text COLLATE "C",
	"cause" text COLLATE "C" NOT NULL,
	"from_at" timestamp (3) with time zone NOT NULL,
	"to_at" timestamp (3) with time zone NOT NULL,
	"until_at" timestamp (3) with time zone NOT NULL,
	"detail" text COLLATE "C",
	CONSTRAINT "window_loss_in_order" CHECK (from_at <= to_at AND to_at <= until_at)
);
--> statement-breakpoint
ALTER TABLE "record" ADD COLUMN "details_erased_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "mismatch_tally_last" ON "mismatch_tally" USING btree ("last_at");--> statement-breakpoint
CREATE INDEX "window_cell_expiry" ON "window_cell" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "window_loss_until" ON "window_loss" USING btree ("until_at");--> statement-breakpoint
CREATE INDEX "late_completion_at" ON "late_completion" USING btree ("at");--> statement-breakpoint
CREATE INDEX "record_retention" ON "record" USING btree ("class",(details_erased_at IS NOT NULL),"ended_at") WHERE state = 2 OR state = 4 OR state = 6;--> statement-breakpoint
-- From here on by hand.

-- Cells come and go: their space shall be used again soon.
ALTER TABLE "window_cell" SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);--> statement-breakpoint
-- Both counts stand from the start, so that there is a row to lock: a first claim waits for a change of policies.
INSERT INTO "setting" ("name", "value", "updated_at")
VALUES ('policy_revision', '0', date_trunc('milliseconds', now())), ('window_revision', '0', date_trunc('milliseconds', now()))
ON CONFLICT ("name") DO NOTHING;
