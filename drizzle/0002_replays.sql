CREATE TABLE "replay" (
	"id" uuid PRIMARY KEY NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"stepped_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"place" bigint NOT NULL,
	"put_back_place" bigint NOT NULL,
	"armed" bigint NOT NULL,
	"left_out" bigint NOT NULL,
	"put_back" bigint NOT NULL,
	"count" bigint NOT NULL,
	"may_run_again" bigint NOT NULL,
	"more" boolean NOT NULL,
	"needs_approval" boolean NOT NULL,
	"after_time" timestamp (3) with time zone,
	"after_id" uuid,
	"state" text COLLATE "C" NOT NULL,
	"delivery" text COLLATE "C" NOT NULL,
	"idempotency" text COLLATE "C" NOT NULL,
	"created_by" text COLLATE "C" NOT NULL,
	"approved_by" text COLLATE "C",
	"reason" text NOT NULL,
	"error" text,
	"selection" json NOT NULL,
	"scope" json NOT NULL,
	CONSTRAINT "replay_state_known" CHECK (state IN ('awaiting_approval', 'running', 'paused', 'finished', 'cancelling', 'cancelled', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "replay_item" (
	"replay_id" uuid NOT NULL,
	"place" bigint NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"record_id" text COLLATE "C" NOT NULL,
	"outcome" text COLLATE "C" NOT NULL,
	CONSTRAINT "replay_item_pkey" PRIMARY KEY("replay_id","place")
);
--> statement-breakpoint
ALTER TABLE "record" ADD COLUMN "replay" json;--> statement-breakpoint
CREATE INDEX "replay_page" ON "replay" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "replay_open" ON "replay" USING btree ("stepped_at") WHERE state = 'running' OR state = 'cancelling';--> statement-breakpoint
CREATE INDEX "replay_item_record" ON "replay_item" USING btree ("record_id","at");