"""Measurements that anybody may have made: unpacked, bounded, and cut to what is needed."""
