"""What a monitoring system needs to watch the platform: targets, objectives, alert rules and dashboards, as files."""
