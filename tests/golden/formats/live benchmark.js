== 0
Strings/classnames: {"unit": "1/s", "values": [4000000.0], "better": "higher", "step": 1.0}
Strings/a x b: {"unit": "1/s", "values": [250.5], "better": "higher", "step": 0.01}
Arrays/classnames: {"unit": "1/s", "values": [2000000.0], "better": "higher", "step": 1.0}
Arrays/classnames (2): {"unit": "1/s", "values": [1000000.0], "better": "higher", "step": 1.0}
